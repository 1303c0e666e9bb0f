/** Plausible customers and orders of 90 days, for shops that are tried out. The same for the same seed. */
import type { Principal } from '../../access/principal.ts';
import type { Cheese } from '../../cheeses/schemas.ts';
import type { Clock } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { OrderInput } from '../../orders/placing/schemas.ts';
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

/** A cheese that is sold in portions, or by the kilogram. */
export type SoldCheese = Pick<Cheese, 'id' | 'portions'>;

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
  readonly cheeses: readonly SoldCheese[];
}

/** A customer who registers in the first step that concerns it, and has an id from then on. */
interface Person {
  readonly since: number;
  readonly shippingAddress: OrderInput['shippingAddress'];
  id: number;
}

/** Adds customers and orders in the transaction of `context`, in the order of their times. */
export async function addFixtures(fixtures: Fixtures, options: FixtureOptions): Promise<void> {
  for (const { at, run } of new FixturePlan(fixtures, options).steps()) {
    fixtures.clock.set(at);
    await run();
  }
}

/** Plans the changes. The order of its random values decides what a seed stands for. */
class FixturePlan {
  readonly #context: Context;
  readonly #customers: ComposedShop['customers']['service'];
  readonly #orders: ComposedShop['orders']['service'];
  readonly #options: FixtureOptions;
  readonly #random: () => number;
  readonly #start: number;
  /** Cheeses, the popular ones first. */
  readonly #cheeses: readonly SoldCheese[];
  readonly #steps: Step[] = [];

  constructor({ shop, context, cheeses }: Fixtures, options: FixtureOptions) {
    this.#context = context;
    this.#customers = shop.customers.service;
    this.#orders = shop.orders.service;
    this.#options = options;
    this.#random = randomOf(options.seed);
    this.#start = options.until - days * dayMs;
    this.#cheeses = cheeses
      .map((cheese) => ({ cheese, rank: this.#random() }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ cheese }) => cheese);
  }

  /** All changes in the order of their times. */
  steps(): readonly Step[] {
    const people = Array.from({ length: this.#options.customers }, (_, index) => this.#addPerson(index));
    for (let count = 0; count < this.#options.orders; count += 1) {
      this.#addOrder(this.#pickPopular(people));
    }
    return this.#steps.toSorted((a, b) => a.at - b.at);
  }

  #addPerson(index: number): Person {
    const [firstName, lastName] = [this.#pick(firstNames), this.#pick(lastNames)];
    const username = `${firstName}.${lastName}.${index + 1}`.toLowerCase();
    const email = `${username}@example.com`;
    const password = `${username} has no password`;
    // Regular customers, who come first, registered early.
    const share = (index / this.#options.customers) * this.#random();
    const since = this.#start + Math.floor(share * (days - 1) * dayMs);
    const street = `${this.#pick(streets)} ${1 + this.#below(80)}`;
    const person = { since, shippingAddress: { street, ...this.#pick(cities) }, id: 0 };
    this.#add(since, async () => {
      const input = { username, email, password, firstName, lastName };
      person.id = (await this.#customers.register(this.#context, input)).id;
    });
    return person;
  }

  #addOrder(person: Person): void {
    const third = this.#random() * 100;
    const hour = (thirds.findIndex((limit) => third < limit) + this.#random()) * 8;
    // More orders in later weeks.
    const day = this.#start + Math.floor(Math.sqrt(this.#random()) * days) * dayMs;
    const placedAt = Math.floor(
      Math.min(Math.max(day + hour * hourMs, person.since + minuteMs), this.#options.until),
    );
    const cheeses = new Set(
      Array.from({ length: 1 + this.#below(4) }, () => this.#pickPopular(this.#cheeses)),
    );
    const input: OrderInput = {
      items: [...cheeses].map(({ id: cheeseId, portions = [] }) => ({
        cheeseId,
        quantity: 1 + this.#below(5),
        ...(portions.length === 0 ? {} : { grams: this.#pick(portions).grams }),
      })),
      shippingAddress: person.shippingAddress,
      ...(this.#random() < 0.1 ? { notes: this.#pick(notes) } : {}),
    };
    let id = 0;
    this.#add(placedAt, async () => {
      id = (await this.#orders.place(this.#context, principalOf(person.id), input, { isInvented: true })).id;
    });
    this.#addTransitions(placedAt, () => id);
  }

  /** @param orderId known when the order was placed */
  #addTransitions(placedAt: number, orderId: () => number): void {
    const orders = this.#orders;
    const context = this.#context;
    const random = this.#random;
    const [fate, approval, packing, transport] = [random(), random(), random(), random()];
    const approvedAt = placedAt + Math.floor((1 + approval * 10) * minuteMs);
    const shippedAt = approvedAt + Math.floor((4 + packing * 40) * hourMs);
    if (fate < 0.06) {
      this.#add(approvedAt, () => orders.cancel(context, orderId(), null));
      return;
    }
    this.#add(approvedAt, () => orders.approve(context, orderId()));
    // Few orders are late.
    if (fate < 0.98) {
      const deliveredAt = shippedAt + Math.floor((20 + transport * 50) * hourMs);
      this.#add(shippedAt, () => orders.ship(context, orderId()));
      this.#add(deliveredAt, () => orders.deliver(context, orderId()));
    }
  }

  #add(at: number, run: Step['run']): void {
    if (at <= this.#options.until) {
      this.#steps.push({ at, run });
    }
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }

  /** The first ones more often. */
  #pickPopular<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() ** 2 * values.length)] as T;
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
