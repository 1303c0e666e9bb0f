/** What an API key may do, as a sentence: before it is created, in the list and on its page. */
import type { ApiKey } from '../../../../client/src/index.ts';
import { showDay, showMoney, showNumber } from '../../parts/text/format.ts';

type Limits = Pick<
  ApiKey,
  'origins' | 'addresses' | 'categories' | 'cheeseIds' | 'dollarsPerOrder' | 'dollarsPerDay' | 'ordersPerDay'
>;

export type KeyRights = Pick<ApiKey, 'kind' | 'scopes' | 'expiresAt'> & Limits;

/** Names in a sentence; a longer list is cut. */
const namedMax = 4;

const and = new Intl.ListFormat('en', { type: 'conjunction' });

function named(names: readonly (string | number)[]): string {
  const more = names.length - namedMax;
  const shown = names.slice(0, namedMax).map(String);
  return and.format(more > 0 ? [...shown, `${showNumber(more)} more`] : shown);
}

function orderText({ dollarsPerOrder, dollarsPerDay, ordersPerDay }: Limits): string {
  const sums = [
    ...(dollarsPerOrder === undefined ? [] : [`${showMoney(dollarsPerOrder)} an order`]),
    ...(dollarsPerDay === undefined ? [] : [`${showMoney(dollarsPerDay)} a day`]),
  ];
  const sum = sums.length === 0 ? 'for any sum' : `for at most ${and.format(sums)}`;
  return ordersPerDay === undefined
    ? `order ${sum}`
    : `order ${sum}, at most ${showNumber(ordersPerDay)} times a day`;
}

function actionsOf(key: KeyRights): string[] {
  const has = (scope: ApiKey['scopes'][number]) => key.scopes.includes(scope);
  const of = (scope: ApiKey['scopes'][number], text: string) => (has(scope) ? [text] : []);
  if (has('admin')) {
    return ['do everything that an operator can'];
  }
  switch (key.kind) {
    case 'publishable':
      return [
        'read the catalogue',
        'log customers in',
        ...of('write:orders', 'order for customers who are logged in'),
      ];
    case 'restricted':
      return [
        ...of('read:cheeses', 'read the catalogue and the inventory'),
        ...of('write:cheeses', 'change cheeses and stock'),
        ...of('read:orders', 'read its orders'),
        ...of('write:orders', orderText(key)),
      ];
    default:
      return [
        'read cheeses, all orders and all profiles',
        ...of('write:cheeses', 'change cheeses, images and stock'),
        ...of('write:orders', 'place and cancel orders for customers'),
      ];
  }
}

/** "May order for at most €50.00 a day, only Alpine, until Feb 21, 2027." */
export function describeRights(key: KeyRights): string {
  const { kind, origins, addresses, categories, cheeseIds, expiresAt } = key;
  const actions = actionsOf(key);
  if (actions.length === 0) {
    return 'May do nothing yet.';
  }
  const limits = [
    ...(categories === undefined ? [] : [`only ${named(categories)}`]),
    ...(cheeseIds === undefined
      ? []
      : [`only the ${cheeseIds.length === 1 ? 'cheese' : 'cheeses'} ${named(cheeseIds)}`]),
    ...(addresses === undefined ? [] : [`only from ${named(addresses)}`]),
    ...(kind === 'publishable'
      ? [origins === undefined ? 'on any page' : `only on pages of ${named(origins)}`]
      : []),
    expiresAt === null ? 'without an end' : `until ${showDay(expiresAt)}`,
  ];
  return `May ${and.format(actions)}, ${limits.join(', ')}.`;
}
