/** How the command line names parameters of the API, and what it accepts in place of an id. */
import type { ComposedShop } from '../../app/compose.ts';
import { commandName } from '../../command-name.ts';
import type { Parser } from '../../settings/parsers.ts';
import { parseId } from '../framework/command-options.ts';

export interface CommandParameter {
  /** The name of the argument, if it differs. */
  readonly argument?: string;
  /** The name of the option in camel case, if it differs. */
  readonly option?: string;
  readonly placeholder?: string;
  /** Replaces the description in the API. */
  readonly help?: string;
  readonly parse?: Parser<unknown>;
  /** The id of what the text names. @throws AppError notFound */
  readonly find?: (shop: ComposedShop, text: string) => Promise<number>;
  /** What separates the elements of a list besides repeated options. */
  readonly separator?: RegExp;
}

function id(what: string, list: string, names: Partial<CommandParameter> = {}): CommandParameter {
  const hint = `"${commandName} ${list}" shows the ids.`;
  return { placeholder: 'id', parse: parseId(what, hint), ...names };
}

const separator = /[\s,]+/;
const types = 'types with commas, such as "order.*,cheese.created"';

export const commandParameters: Readonly<Record<string, CommandParameter>> = {
  account: { placeholder: 'name', help: 'name of the account' },
  accountId: {
    argument: 'name',
    find: async ({ auth: { keys } }, name) => (await keys.findAccount(name)).id,
  },
  approvalId: id('approval', 'approvals list', { argument: 'id' }),
  cheeseId: id('cheese', 'stock list', {
    option: 'cheese',
    parse: parseId('cheese', `"${commandName} stock list" and GET /v2/cheeses show the ids.`),
  }),
  cheeseIds: { option: 'cheese', placeholder: 'ids', help: 'only these cheeses: ids with commas', separator },
  customerId: {
    argument: 'username',
    option: 'customer',
    placeholder: 'username',
    find: ({ customers }, username) => customers.administration.idOf(username),
  },
  deliveryId: id('delivery', 'webhooks deliveries <id>'),
  endpointId: id('webhook endpoint', 'webhooks list', { argument: 'id' }),
  keyId: id('API key', 'keys list', { argument: 'id' }),
  mailId: id('mail', 'mail list', { argument: 'id' }),
  onHand: { argument: 'kg' },
  orderId: id('order', 'orders list', { option: 'order' }),
  q: { option: 'search' },
  rateId: id('tax rate', 'tax-rates list', { argument: 'id' }),
  requestId: { argument: 'id' },
  snapshotId: id('snapshot', 'snapshots list', { argument: 'id' }),
  status: { separator },
  types: { help: types, separator },
};
