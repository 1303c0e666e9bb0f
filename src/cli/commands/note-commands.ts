/** The commands on notes about orders and customers. */
import { commandName } from '../../command-name.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { changeOptions, parseId } from '../framework/command-options.ts';
import { argument, textArgument } from '../framework/options.ts';

const orderId = argument('orderId', parseId('order', `"${commandName} orders list" shows the ids.`));
const help = 'Customers never see notes.';

export const noteCommands: readonly CommandDefinition[] = [
  command({
    name: 'orders note',
    summary: 'add a note about an order, at most 2,000 characters',
    help,
    arguments: [orderId, textArgument('text')],
    options: changeOptions,
    load: async () => (await import('./shop/notes.ts')).noteOrder,
  }),
  command({
    name: 'orders notes',
    summary: 'list the notes about an order',
    help,
    arguments: [orderId],
    load: async () => (await import('./shop/notes.ts')).listOrderNotes,
  }),
  command({
    name: 'customers note',
    summary: 'add a note about a customer, at most 2,000 characters',
    help: `${help} They are deleted with the customer.`,
    arguments: [textArgument('username'), textArgument('text')],
    options: changeOptions,
    load: async () => (await import('./shop/notes.ts')).noteCustomer,
  }),
  command({
    name: 'customers notes',
    summary: 'list the notes about a customer',
    help,
    arguments: [textArgument('username')],
    load: async () => (await import('./shop/notes.ts')).listCustomerNotes,
  }),
];
