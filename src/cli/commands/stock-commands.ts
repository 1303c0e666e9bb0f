/** The commands on stock. */
import { commandName } from '../../command-name.ts';
import { type CommandDefinition, command } from '../framework/command-definition.ts';
import { changeOptions, parseId } from '../framework/command-options.ts';
import { argument } from '../framework/options.ts';
import {
  adjustStockOptions,
  listStockOptions,
  parseDelta,
  parseKilograms,
  setStockOptions,
} from '../framework/shop-options.ts';

const cheeseId = argument(
  'cheeseId',
  parseId('cheese', `"${commandName} stock list" and GET /v2/cheeses show the ids.`),
);

export const stockCommands: readonly CommandDefinition[] = [
  command({
    name: 'stock list',
    summary: 'list the stock of all tracked cheeses',
    options: listStockOptions,
    load: async () => (await import('./shop/stock.ts')).listStock,
  }),
  command({
    name: 'stock set',
    summary: 'set the counted stock of a cheese, or begin to track it',
    help: 'Count what lies in the storeroom, including what is promised to orders that have not shipped.',
    arguments: [cheeseId, argument('kg', parseKilograms)],
    options: setStockOptions,
    load: async () => (await import('./shop/stock.ts')).setStock,
  }),
  command({
    name: 'stock adjust',
    summary: 'add kilograms to the stock of a cheese, or subtract them with a minus sign',
    help: `Example: ${commandName} stock adjust 12 -5 --reason spoiled`,
    arguments: [cheeseId, argument('deltaKg', parseDelta)],
    options: adjustStockOptions,
    load: async () => (await import('./shop/stock.ts')).adjustStock,
  }),
  command({
    name: 'stock untrack',
    summary: 'stop tracking the stock of a cheese, which is sold without limit from then on',
    arguments: [cheeseId],
    options: changeOptions,
    load: async () => (await import('./shop/stock.ts')).untrackStock,
  }),
];
