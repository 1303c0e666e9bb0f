/** Pages of the search of customers. */
import { performance } from 'node:perf_hooks';
import type { ComposedShop } from '../src/app/compose.ts';
import { searchNames } from '../src/customers/search/search-names.ts';

const pageMs = 5;
const rounds = 20;
const insertedAtOnce = 5000;

const firstNames = ['Ada', 'José', 'Zoë', 'Øyvind', 'Grace', 'Łucja', 'Ueli', 'Chloé', 'Mei', 'Noah'];
const syllables = ['ber', 'mül', 'ler', 'hop', 'per', 'son', 'kel', 'ñan', 'dú', 'witz', 'stein', 'mann'];

const requests = [
  {},
  { status: 'platinum' },
  { q: 'u' },
  { q: 'mul' },
  { q: 'person' },
  { q: 'ada kel' },
  { q: 'user12345' },
  { q: 'user1', status: 'platinum' },
] as const;

export interface SearchTimes {
  /** Of the slowest of the queries, on average over its pages. */
  readonly ms: number;
  readonly query: string;
  readonly limitMs: number;
}

/** Inserts customers without hashing passwords, and measures two pages of each query. */
export async function benchCustomerSearch(
  { database, customers: { search: customerSearch } }: ComposedShop,
  size: number,
): Promise<SearchTimes> {
  const columns = [
    'username',
    'username_key',
    'email',
    'email_key',
    'first_name',
    'last_name',
    'last_first',
    'first_last',
    'password',
    'tier',
  ];
  for (let start = 0; start < size; start += insertedAtOnce) {
    const rows = Array.from({ length: Math.min(insertedAtOnce, size - start) }, (_, offset) => {
      const index = start + offset;
      const part = (place: number) => syllables[Math.floor(index / 12 ** place) % 12] ?? '';
      const last = `${part(0)}${part(1)}${part(2)}${part(3)}`;
      const email = `user${index}@mail.example`;
      const tier = index % 1000 === 0 ? 'platinum' : 'bronze';
      const first = firstNames[index % 10] ?? '';
      const { lastFirst, firstLast } = searchNames({ first_name: first, last_name: last });
      return [
        `user${index}`,
        `user${index}`,
        email,
        email,
        first,
        last,
        lastFirst,
        firstLast,
        '',
        tier,
        '2026-01-01T00:00:00.000Z',
      ];
    });
    await database.transaction((tx) => tx.insert('customer', [...columns, 'created_at'], rows));
  }

  const times: { ms: number; query: string }[] = [];
  for (const request of requests) {
    const started = performance.now();
    for (let round = 0; round < rounds; round += 1) {
      const { nextCursor } = await customerSearch.list({ ...request, limit: 20 });
      if (nextCursor !== null) {
        await customerSearch.list({ cursor: nextCursor, limit: 20 });
      }
    }
    times.push({ ms: (performance.now() - started) / rounds / 2, query: JSON.stringify(request) });
  }
  const slowest = times.reduce((one, other) => (other.ms > one.ms ? other : one));
  return { ...slowest, limitMs: pageMs };
}
