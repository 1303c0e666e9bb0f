/** The commands on orders. */
import { commandName } from '../../command-name.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { changeOptions, parseId } from '../framework/command-options.ts';
import { argument } from '../framework/options.ts';
import { listOrdersOptions, shipmentOptions } from '../framework/shop-options.ts';

const orderId = argument('orderId', parseId('order', `"${commandName} orders list" shows the ids.`));

export const orderCommands: readonly CommandDefinition[] = [
  command({
    name: 'orders list',
    summary: 'list the newest orders',
    options: listOrdersOptions,
    load: async () => (await import('./shop/order-lists.ts')).listOrders,
  }),
  command({
    name: 'orders show',
    summary: 'show an order with its timeline',
    arguments: [orderId],
    load: async () => (await import('./shop/order-lists.ts')).showOrder,
  }),
  transition('approve', 'approve an order that was placed, even without prices'),
  command({
    name: 'orders ship',
    summary: 'mark an approved order as shipped, with its carrier and tracking',
    arguments: [orderId],
    options: { ...changeOptions, ...shipmentOptions },
    load: async () => (await import('./shop/orders.ts')).shipOrder,
  }),
  command({
    name: 'orders track',
    summary: 'change the carrier and the tracking of an order that has shipped',
    help: 'What is not given is removed. Possible until the order is delivered.',
    arguments: [orderId],
    options: { ...changeOptions, ...shipmentOptions },
    load: async () => (await import('./shop/orders.ts')).changeShipment,
  }),
  transition('deliver', "mark a shipped order as delivered; it counts for the customer's tier"),
  transition('cancel', 'cancel an order that has not shipped'),
];

function transition(verb: 'approve' | 'deliver' | 'cancel', summary: string): CommandDefinition {
  return command({
    name: `orders ${verb}`,
    summary,
    arguments: [orderId],
    options: changeOptions,
    load: async () => {
      const { changeOrder } = await import('./shop/orders.ts');
      return (id, options) => changeOrder(verb, id, options);
    },
  });
}
