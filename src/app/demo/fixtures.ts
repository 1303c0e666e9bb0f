/** Plausible customers and orders of 90 days, for shops that are tried out. The same for the same seed. */
import type { Principal } from '../../access/principal.ts';
import type { Clock } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { OrderInput } from '../../orders/schemas.ts';
import type { ComposedShop } from '../compose.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const days = 90;

const firstNames = [
  ...['Ada', 'Bruno', 'Chiara', 'Diego', 'Elif', 'Finn', 'Greta', 'Hugo', 'Ines', 'Jonas', 'Klara', 'Luca'],
  ...['Mina', 'Noah', 'Olga', 'Pablo', 'Rosa', 'Sven', 'Thea', 'Urs', 'Vera', 'Wim', 'Yara', 'Zoe'],
];
const lastNames = [
  ...['Almeida', 'Berger', 'Costa', 'Dubois', 'Eriksen', 'Fischer', 'Garcia', 'Huber', 'Ivanova', 'Jansen'],
  ...['Keller', 'Lindt', 'Moreau', 'Novak', 'Olsen', 'Pereira', 'Rossi', 'Schmid', 'Tanner', 'Weber'],
];
const streets = [
  'Station Road',
  'Mill Lane',
  'Market Square',
  'Church Street',
  'Harbour Street',
  'Castle Lane',
];
const cities = [
  { city: 'Bern', zipCode: '3011', country: 'CH' },
  { city: 'Zürich', zipCode: '8001', country: 'CH' },
  { city: 'Lyon', zipCode: '69002', country: 'FR' },
  { city: 'Milano', zipCode: '20121', country: 'IT' },
  { city: 'Hamburg', zipCode: '20095', country: 'DE' },
  { city: 'Porto', zipCode: '4000-322', country: 'PT' },
  { city: 'Utrecht', zipCode: '3511', country: 'NL' },
  { city: 'Bergen', zipCode: '5003', country: 'NO' },
] as const;
const notes = [
  'Please ring twice.',
  'It is a gift.',
  'Leave it with the neighbours.',
  'For a fondue on Saturday.',
];
/** How many of a hundred orders are placed in each third of a day: at night, before 16:00, and in the evening. */
const thirds = [5, 50, 100];

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One change at its time. */
interface Step {
  readonly at: number;
  readonly run: () => Promise<unknown>;
}

export interface FixtureOptions {
  readonly customers: number;
  readonly orders: number;
  readonly seed: number;
  /** The end of the 90 days, in milliseconds. */
  readonly until: number;
}

/** A clock that shows the time of each change. */
export interface SetClock extends Clock {
  set(time: number): void;
}

interface Fixtures {
  readonly shop: Pick<ComposedShop, 'customers' | 'orders'>;
  readonly clock: SetClock;
  readonly context: Context;
  /** Ids of cheeses that can be ordered without a limit. */
  readonly cheeses: readonly number[];
}

/** Adds customers and orders in the transaction of `context`, in the order of their times. */
export async function addFixtures(
  { shop, clock, context, cheeses }: Fixtures,
  options: FixtureOptions,
): Promise<void> {
  const [customers, orders] = [shop.customers.service, shop.orders.service];
  const random = randomOf(options.seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  /** The first ones more often. */
  const pickPopular = <T>(values: readonly T[]): T => values[Math.floor(random() ** 2 * values.length)] as T;
  const start = options.until - days * dayMs;
  const popular = cheeses.map((id) => ({ id, rank: random() })).toSorted((a, b) => a.rank - b.rank);
  const steps: Step[] = [];
  const add = (at: number, run: Step['run']) => {
    if (at <= options.until) {
      steps.push({ at, run });
    }
  };

  const people = Array.from({ length: options.customers }, (_, index) => {
    const [firstName, lastName] = [pick(firstNames), pick(lastNames)];
    const username = `${firstName}.${lastName}.${index + 1}`.toLowerCase();
    const email = `${username}@example.com`;
    const password = `${username} has no password`;
    // Regular customers, who come first, registered early.
    const since = start + Math.floor((index / options.customers) * random() * (days - 1) * dayMs);
    const shippingAddress = { street: `${pick(streets)} ${1 + below(80)}`, ...pick(cities) };
    const person = { since, shippingAddress, id: 0 };
    add(since, async () => {
      const input = { username, email, password, firstName, lastName };
      person.id = (await customers.register(context, input)).id;
    });
    return person;
  });

  for (let count = 0; count < options.orders; count += 1) {
    const person = pickPopular(people);
    const third = random() * 100;
    const hour = (thirds.findIndex((limit) => third < limit) + random()) * 8;
    // More orders in later weeks.
    const day = start + Math.floor(Math.sqrt(random()) * days) * dayMs;
    const placedAt = Math.floor(
      Math.min(Math.max(day + hour * hourMs, person.since + minuteMs), options.until),
    );
    const cheesesOfOrder = new Set(Array.from({ length: 1 + below(4) }, () => pickPopular(popular).id));
    const input: OrderInput = {
      items: [...cheesesOfOrder].map((cheeseId) => ({ cheeseId, quantity: 1 + below(5) })),
      shippingAddress: person.shippingAddress,
      ...(random() < 0.1 ? { notes: pick(notes) } : {}),
    };
    let id = 0;
    add(placedAt, async () => {
      id = (await orders.place(context, principalOf(person.id), input)).id;
    });
    const [fate, approval, packing, transport] = [random(), random(), random(), random()];
    const approvedAt = placedAt + Math.floor((1 + approval * 10) * minuteMs);
    const shippedAt = approvedAt + Math.floor((4 + packing * 40) * hourMs);
    if (fate < 0.06) {
      add(approvedAt, () => orders.cancel(context, id, null));
      continue;
    }
    add(approvedAt, () => orders.approve(context, id));
    // Few orders are late.
    if (fate < 0.98) {
      add(shippedAt, () => orders.ship(context, id));
      add(shippedAt + Math.floor((20 + transport * 50) * hourMs), () => orders.deliver(context, id));
    }
  }

  for (const { at, run } of steps.toSorted((a, b) => a.at - b.at)) {
    clock.set(at);
    await run();
  }
}

/** The session of a customer. */
function principalOf(customerId: number): Principal {
  return {
    kind: 'session',
    id: `customer:${customerId}`,
    accountId: null,
    plan: 'free',
    scopes: new Set(),
    audience: 'api',
    limits: null,
    customerId,
    confinedTo: null,
    expiresAt: null,
    sessionHash: null,
    tokenHash: null,
  };
}
