/** Names of what events and timelines mention: `key:2` is "Web shop". */
import type { KeyService } from '../auth/keys/service.ts';
import type { ClientService } from '../auth/oauth/clients.ts';
import type { CheeseService } from '../cheeses/service.ts';
import type { CustomerFinder } from '../customers/customer-finder.ts';
import type { Database } from '../database/database.ts';
import type { OrderReader } from '../orders/lists/order-reader.ts';
import { readCustomersOfOrders } from '../orders/order.ts';
import type { TextRule } from '../schema/schema.ts';

export interface NameDependencies {
  readonly database: Database;
  readonly cheeses: Pick<CheeseService, 'listNames'>;
  readonly clients: Pick<ClientService, 'listNames'>;
  readonly customerFinder: Pick<CustomerFinder, 'listUsernames' | 'listContacts'>;
  readonly keys: Pick<KeyService, 'listNames'>;
  readonly orderReader: Pick<OrderReader, 'listIds'>;
}

interface Named {
  /** `key:2` */
  readonly of: string;
  readonly name: string;
}

export const mentionRule: TextRule = {
  test: (text) =>
    /^(?:(?:cheese|customer|key|order|order-customer):[1-9]\d{0,14}|client:[\w-]{1,64})$/.test(text),
  message: 'must be cheese, client, customer, key, order or order-customer, a colon, and an id: key:2',
};

/** Reads all names of a kind in one statement. What does not exist is left out. */
export async function findNames(
  { database, cheeses, clients, customerFinder, keys, orderReader }: NameDependencies,
  mentions: readonly string[],
): Promise<Named[]> {
  type Found = readonly { readonly id: number | string; readonly name: string }[];

  async function read(kind: string, find: (ids: readonly string[]) => Promise<Found>): Promise<Named[]> {
    const ids = [...new Set(mentions)]
      .filter((name) => name.startsWith(`${kind}:`))
      .map((name) => name.slice(kind.length + 1));
    const rows = ids.length === 0 ? [] : await find(ids);
    return rows.map(({ id, name }) => ({ of: `${kind}:${id}`, name }));
  }

  async function findCustomers(ids: readonly string[]): Promise<Found> {
    const customers = await readCustomersOfOrders(database, ids.map(Number));
    const contacts = await customerFinder.listContacts(database, [...new Set(customers.values())]);
    return [...customers].flatMap(([id, customer]) => {
      const contact = contacts.get(customer);
      return contact === undefined
        ? []
        : [{ id, name: `${contact.firstName} ${contact.lastName}`.trim() || contact.username }];
    });
  }

  const found = await Promise.all([
    read('cheese', (ids) => cheeses.listNames(ids.map(Number))),
    read('client', (ids) => clients.listNames(ids)),
    read('customer', (ids) => customerFinder.listUsernames(ids.map(Number))),
    read('key', (ids) => keys.listNames(ids.map(Number))),
    read('order', async (ids) =>
      (await orderReader.listIds(ids.map(Number))).map((id) => ({ id, name: `Order ${id}` })),
    ),
    read('order-customer', findCustomers),
  ]);
  return found.flat();
}
