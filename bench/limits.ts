/**
 * The limits that Curd is compared with: Fastify alone, which sends the same bytes, on PostgreSQL after one query of the
 * driver. Runs as a separate process and prints its port.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as argon2 from '@node-rs/argon2';
import Fastify from 'fastify';
import pg from 'pg';
import { passwordProcessesMax } from '../src/auth/passwords.ts';
import { ordersOfOneClient, ordersOnPostgres } from './postgres-orders.ts';

const {
  one,
  list,
  databaseUrl,
  photo: image,
  cheeseIds,
} = JSON.parse(readFileSync(0, 'utf8')) as {
  one?: string;
  list?: string;
  databaseUrl: string | null;
  /** A JPEG in base64. */
  photo?: string;
  /** Cheeses to order, each together with the next id. */
  cheeseIds?: number[];
};

const app = Fastify();
const type = 'application/json; charset=utf-8';

app.get('/one', (_request, reply) => {
  reply.type(type).send(one);
});
app.get('/list', (_request, reply) => {
  reply.type(type).send(list);
});

if (databaseUrl !== null) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const text = 'select id, version, body from cheese where id = $1';
  const read = (id: string) => pool.query({ name: 'cheese', text, values: [id] });
  app.get<{ Params: { id: string } }>('/one/:id', async (request, reply) => {
    const { rows } = await read(request.params.id);
    reply.type(type);
    return rows[0]?.body;
  });
  app.get<{ Params: { id: string } }>('/list/:id', async (request, reply) => {
    await read(request.params.id);
    reply.type(type);
    return list;
  });
}

/** Renders the same two images with the same number of slots as Curd. Returns images per second. */
app.get<{ Querystring: { seconds: string } }>('/sharp', async (request) => {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  const bytes = Buffer.from(image ?? '', 'base64');
  const startedAt = performance.now();
  const until = startedAt + Number(request.query.seconds) * 1000;
  let images = 0;
  async function work(): Promise<void> {
    while (performance.now() < until) {
      await sharp(bytes).autoOrient().jpeg({ quality: 85, optimiseCoding: false }).toBuffer();
      const side = { width: 320, height: 320, fit: 'inside', withoutEnlargement: true } as const;
      await sharp(bytes).autoOrient().resize(side).webp({ quality: 80 }).toBuffer();
      images += 1;
    }
  }
  await Promise.all([work(), work()]);
  return String(images / ((performance.now() - startedAt) / 1000));
});

const lineSchema = {
  type: 'object',
  required: ['cheeseId', 'quantity'],
  properties: { cheeseId: { type: 'integer' }, quantity: { type: 'integer', minimum: 1, maximum: 100 } },
};
const orderSchema = {
  type: 'object',
  required: ['items', 'shippingAddress'],
  properties: {
    items: { type: 'array', minItems: 1, maxItems: 100, items: lineSchema },
    shippingAddress: {
      type: 'object',
      required: ['street', 'city', 'country'],
      properties: {
        street: { type: 'string', minLength: 1, maxLength: 200 },
        city: { type: 'string', minLength: 1, maxLength: 100 },
        zipCode: { type: 'string', maxLength: 32 },
        country: { type: 'string', minLength: 2, maxLength: 2 },
      },
    },
    notes: { type: 'string', maxLength: 1000 },
  },
};
app.post('/echo', { schema: { body: orderSchema } }, (request, reply) => {
  reply.code(201).send(request.body);
});

/** The texts of an order, about as long as those of Curd. */
const items = JSON.stringify([
  { cheeseId: 1, cheeseName: 'Tomme Noir kelisor', quantity: 2, pricePerKg: 61.25 },
  { cheeseId: 2, cheeseName: 'Brie Vieux zerlunba', quantity: 1, pricePerKg: 12.4 },
]);
const shippingAddress = JSON.stringify({
  street: 'Gerechtigkeitsgasse 1',
  city: 'Bern',
  zipCode: '3011',
  country: 'CH',
});
const event = JSON.stringify({ id: 100_000, status: 'placed', total: 134.9, reason: null });
const now = '2026-06-01T12:00:00.000Z';
const later = '2099-06-01T13:00:00.000Z';

/** The tables of an order with the fewest columns and indexes that a shop can have. */
const bareTables = `
  create table orders (id integer primary key autoincrement, status text not null, placed_by text not null,
    customer_id integer, items text not null, address text not null, notes text, total_cents integer not null,
    ship_date text, version integer not null default 1, created_at text not null, updated_at text not null);
  create index orders_by_customer on orders (customer_id, id) where customer_id is not null;
  create index orders_by_placer on orders (placed_by, id);
  create index orders_by_status on orders (status, id);
  create table open_order_cheese (cheese_id integer not null, order_id integer not null,
    primary key (cheese_id, order_id)) without rowid;
  create table background_job (kind text not null, key text not null, lane text not null default '',
    payload text not null default '{}', due_at text not null, attempts integer not null default 0, last_error text,
    leased_until text, parked_at text, primary key (kind, key)) without rowid;
  create index background_job_due on background_job (kind, lane, due_at);
  create table event (id integer primary key, type text not null, subject text not null, actor text not null,
    request_id text, trace_id text, data text not null, created_at text not null);
  create index event_subject on event (subject, id);`;

/** Inserts the rows of an order and commits, repeatedly. Returns orders per second. */
function ordersOnSqlite(seconds: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'curd-limit-'));
  const database = new DatabaseSync(join(folder, 'orders.sqlite'));
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  database.exec(bareTables);
  const order = database.prepare(
    `insert into orders (status, placed_by, items, address, notes, total_cents, created_at, updated_at)
     values ('placed', 'key:1', ?, ?, 'Please ring twice', 13490, ?, ?)`,
  );
  const open = database.prepare('insert into open_order_cheese (cheese_id, order_id) values (?, ?)');
  const job = database.prepare(
    "insert into background_job (kind, key, due_at) values ('order.approval', ?, ?)",
  );
  const insertEvent = database.prepare(
    "insert into event (type, subject, data, actor, created_at) values ('order.placed', ?, ?, 'key:1', ?)",
  );
  let orders = 0;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    database.exec('begin immediate');
    const { lastInsertRowid: id } = order.run(items, shippingAddress, now, now);
    open.run(orders % 1000, id);
    open.run((orders % 1000) + 1, id);
    job.run(String(id), later);
    insertEvent.run(`order:${id}`, event, now);
    database.exec('commit');
    orders += 1;
  }
  database.close();
  rmSync(folder, { recursive: true });
  return orders / seconds;
}

app.get<{ Querystring: { seconds: string; key?: string } }>('/one-client', async ({ query }) =>
  String(
    databaseUrl === null
      ? ordersOnSqlite(Number(query.seconds))
      : await ordersOfOneClient(databaseUrl, cheeseIds ?? [], Number(query.seconds), query.key === 'true'),
  ),
);

app.get<{ Querystring: { seconds: string } }>('/orders', async ({ query }) =>
  String(
    databaseUrl === null
      ? ordersOnSqlite(Number(query.seconds))
      : await ordersOnPostgres(databaseUrl, cheeseIds ?? [], Number(query.seconds)),
  ),
);

/** Verifies passwords, as many at a time as the server. Returns how many per second. */
app.get<{ Querystring: { seconds: string } }>('/argon2', async ({ query }) => {
  const stored = await argon2.hash('a password for the bench', {
    memoryCost: 19_456,
    timeCost: 2,
    parallelism: 1,
  });
  const end = performance.now() + Number(query.seconds) * 1000;
  let checked = 0;
  async function slot(): Promise<void> {
    while (performance.now() < end) {
      await argon2.verify(stored, 'a password for the bench');
      checked += 1;
    }
  }
  await Promise.all(Array.from({ length: passwordProcessesMax }, slot));
  return String(checked / Number(query.seconds));
});

await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
