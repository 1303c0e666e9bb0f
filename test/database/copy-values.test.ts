/** Copies of values that the two engines might treat differently, in both directions. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { copyTables } from '../../src/database/copy/copy-tables.ts';
import type { Database } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { type Engine, sql, type Value } from '../../src/database/sql.ts';
import { engines } from '../context.ts';
import { contentsOf } from './contents.ts';
import { freshConfig, open } from './notes.ts';

/** Texts that the two engines might store, sort or return differently. */
const odd = [
  '',
  ' ',
  'é',
  'e\u0301',
  '🧀',
  '\u{10FFFF}',
  '\uFFFD',
  '\uE000',
  '"',
  "'; drop table account; --",
  '\\',
  '\\x00',
  '%_',
  '\u0001\u007f',
  '\t\r\n',
  'null',
  'NULL',
  '0',
  '-1',
  '1e400',
  'ß',
  'İ',
  'ａ',
  '\u202E',
  'Z',
  'a',
  '~',
];
const large = [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0, 2 ** 31, 2 ** 32 + 1];

suite('Values of every column', () => {
  for (const [from, to] of [engines, engines.toReversed()] as [Engine, Engine][]) {
    test(`Values of every column from ${from} to ${to} are copied unchanged`, async (t) => {
      const [source, target] = [
        await open(t, await freshConfig(t, from)),
        await open(t, await freshConfig(t, to)),
      ];
      await migrate(source);
      await migrate(target);
      await fill(source);
      const { instance, snapshot, image_file_pin: pins, ...contents } = await contentsOf(source);
      assert.deepEqual([instance, snapshot, pins], [[], [], []], 'rows that are not copied');
      const empty = Object.entries(contents).flatMap(([table, rows]) => (rows.length === 0 ? [table] : []));
      assert.deepEqual(empty, [], 'tables without rows');
      const copied = await target.exclusiveTransaction((tx) => copyTables(source, tx, () => {}));
      const { instance: _, snapshot: _snapshot, image_file_pin: _pins, ...copies } = await contentsOf(target);
      assert.deepEqual(copies, contents);
      for (const { name, rows } of copied) {
        assert.equal(rows, contents[name]?.length ?? rows, name);
      }
    });
  }
});

/** Odd values in every column of text, nulls where they may be, and numbers as large as they come. */
async function fill(database: Database): Promise<void> {
  const at = <T>(list: readonly T[], place: number) => list[place % list.length] as T;
  const rows = odd.map((text, place) => ({
    text,
    other: at(odd, place + 7),
    place,
    id: place + 11,
    number: at(large, place),
    nothing: place % 3 === 0 ? null : text,
  }));
  const insert = (
    table: string,
    columns: string,
    values: (row: (typeof rows)[number]) => Value[],
    some = rows,
  ) => database.insert(table, columns.split(' '), some.map(values));
  await insert('account', 'id name plan created_at', ({ id, text, other }) => [id, text, other, text]);
  await insert(
    'api_key',
    'id account_id type hash last4 scopes created_at expires_at revoked_at last_used_at replaced_by',
    ({ id, text, other, nothing, number }) => [
      id,
      id,
      'live',
      text,
      other,
      text,
      other,
      nothing,
      nothing,
      text,
      nothing === null ? null : number,
    ],
  );
  await insert('cheese', 'id name_key category_id status version body', ({ id, text, other, number }) => [
    id,
    text,
    id,
    'sold',
    number,
    other,
  ]);
  await insert('edge_purger', 'purge_url position epoch updated_at', ({ text, other }) => [
    text,
    other,
    text,
    other,
  ]);
  await insert('cheese_price', 'cheese_id since price', ({ id, text, number }) => [id, text, number / 3]);
  await insert('term', 'id kind name name_key', ({ id, text, other }) => [id, 'tag', text, other]);
  await insert(
    'event',
    'id type subject actor request_id trace_id data created_at',
    ({ id, text, other, nothing }) => [id, text, other, text, nothing, nothing, other, text],
  );
  await insert(
    'stored_response',
    'id request owner fingerprint method path request_id response created_at expires_at',
    ({ id, text, other }) => [id, text, other, text, other, text, other, text, other, text],
  );
  await insert(
    'request',
    'id request_id owner customer_id at method route status error facts',
    ({ id, text, other, nothing }) => [id, text, other, id, text, other, nothing, id, nothing, text],
  );
  await insert(
    'customer',
    'id username username_key email email_key first_name last_name last_first first_last phone password tier delivered_cents favourite_id favourite_name created_at',
    ({ id, text, other, nothing, number }) => [
      id,
      other,
      text,
      other,
      text,
      other,
      text,
      other,
      text,
      nothing,
      other,
      'gold',
      number,
      nothing === null ? null : number,
      nothing,
      text,
    ],
  );
  await insert('session', 'token_hash customer_id created_at expires_at', ({ id, text, other }) => [
    text,
    id,
    other,
    text,
  ]);
  await insert(
    'login_failure',
    'id failures ends_at running running_until next_at',
    ({ id, text, other }) => [text, id, other, id, text, other],
  );
  await insert('login_network', 'customer_id network seen_at', ({ id, text, other }) => [id, text, other]);
  await insert(
    'orders',
    'id status placed_by customer_id items address notes total_cents goods_cents breakdown delivery gift ship_date created_at updated_at',
    ({ id, text, other, nothing, number }) => [
      id,
      'placed',
      text,
      nothing === null ? null : id,
      other,
      text,
      nothing,
      number,
      number,
      nothing,
      text,
      nothing,
      nothing,
      other,
      text,
    ],
  );
  await insert('open_order_cheese', 'cheese_id order_id', ({ id, number }) => [number, id]);
  await insert(
    'background_job',
    'kind key lane payload due_at attempts last_error leased_until parked_at',
    ({ id, text, other, nothing }) => [other, text, other, text, text, id, nothing, nothing, nothing],
  );
  await insert(
    'oauth_client',
    'id account_id name secret_hash redirect_uris grants scopes is_native created_at',
    ({ id, text, other, nothing }) => [text, id, other, nothing, text, other, text, id % 2, other],
  );
  await insert(
    'oauth_object',
    'model id payload grant_id uid customer_id client_id scope consumed_at expires_at',
    ({ text, other, nothing, number }) => [
      other,
      text,
      other,
      nothing,
      nothing,
      nothing === null ? null : number,
      nothing,
      text,
      nothing,
      other,
    ],
  );
  await insert(
    'admin_approval',
    'id client_id customer_id status requested_at decided_at decided_by expires_at',
    ({ id, text, other, nothing, number }) => [id, text, number, 'pending', other, nothing, nothing, text],
  );
  await insert('image_file', 'name media_type bytes state since', ({ text, other, number }) => [
    text,
    other,
    number,
    'stored',
    text,
  ]);
  await insert(
    'cheese_image',
    'id cheese_id image_name thumbnail_name size caption created_at',
    ({ id, text, other, nothing, number }) => [id, id, text, other, number, nothing, text],
  );
  await insert('statistic', 'measure quarter value', ({ text, other, number }) => [text, other, number]);
  await insert('statistic_cheese', 'day cheese_id name orders grams cents', ({ id, text, other, number }) => [
    text,
    id,
    other,
    id,
    number,
    number,
  ]);
  await insert('statistic_sale', 'day country customer orders cents', ({ text, other, id, number }) => [
    text,
    other,
    'none',
    id,
    number,
  ]);
  await insert(
    'statistic_position',
    'id sequence history_id customers_from',
    ({ text, number }) => [1, number, null, text],
    rows.slice(0, 1),
  );
  await insert('key_spend', 'key_id day cents orders', ({ id, text, number }) => [id, text, number, id]);
  await insert(
    'shipment',
    'order_id carrier tracking_number tracking_url version',
    ({ id, text, other, nothing, number }) => [id, text, other, nothing, number],
  );
  await insert(
    'staff_note',
    'id order_id customer_id author body created_at',
    ({ id, text, other, nothing }) => [id, nothing === null ? null : id, null, text, other, text],
  );
  await insert(
    'mail',
    'id name state customer_id order_id sequence event_id attempts reason created_at expires_at ended_at counted_at recipient sealed_address',
    ({ id, text, other, nothing, number }) => [
      ...[id, text, 'failed', number, null, null],
      ...[nothing, number, other, text, other],
      ...[nothing, nothing, text, nothing],
    ],
  );
  await insert('clock_target', 'id advance target expires_at', ({ text, other, number }) => [
    ...[text, other, number, text],
  ]);
  await insert('doctor_run', 'id at seconds result', ({ id, text, other, number }) => [
    id,
    text,
    number,
    other,
  ]);
  await insert('cheese_tombstone', 'cheese_id changed_in deleted_at', ({ id, text, number }) => [
    id + 1000,
    number,
    text,
  ]);
  await database.run(
    sql`insert into shop_profile (id, version, currency_fixed, body, settings_version, settings)
      values (1, 7, 1, ${'{"name":"Käserei "}'}, 3, ${'{}'})`,
  );
  await insert('delivery_method', 'version body', ({ number, text }) => [number, text]);
  await insert(
    'tax_rate',
    'country state state_key zip_prefix category category_key milli_percent name',
    ({ id, text, other, nothing, number }) => [
      text,
      nothing,
      other,
      String(id),
      nothing,
      text,
      number,
      other,
    ],
  );
  await insert(
    'discount',
    'code kind value from_cents starts_at ends_at uses_max uses_per_customer used created_at',
    ({ id, text, nothing, number }) => [
      ...[`CODE-${id}`, 'amount', number, nothing === null ? null : number, nothing, text],
      ...[nothing === null ? null : number, null, number, text],
    ],
  );
  await insert('discount_use', 'order_id discount_id customer_key', ({ id, nothing }) => [id, id, nothing]);
  await insert(
    'stock',
    'cheese_id on_hand reserved low_at tracked_since',
    ({ id, text, nothing, number }) => [id, Math.abs(number), id, nothing === null ? null : number, text],
  );
  await insert(
    'password_reset',
    'customer_id token_hash created_at created_by expires_at',
    ({ id, text, other }) => [id, text, other, text, other],
  );
  await insert(
    'webhook_endpoint',
    'id account_id url types description secrets status disabled_reason position created_at updated_at',
    ({ id, text, other, nothing, number }) => [
      id,
      id,
      text,
      nothing,
      nothing,
      other,
      'enabled',
      nothing,
      number,
      text,
      other,
    ],
  );
  await insert(
    'webhook_delivery',
    'id endpoint_id sequence event_id type subject previous_id kind status created_at ended_at',
    ({ id, text, other, nothing, number }) => [
      id,
      id,
      number,
      text,
      other,
      text,
      nothing,
      'event',
      'failed',
      other,
      nothing,
    ],
  );
  await insert(
    'webhook_attempt',
    'delivery_id number at duration_ms status error response',
    ({ id, text, other, nothing, number }) => [
      id,
      number,
      text,
      nothing === null ? null : number,
      500,
      other,
      text,
    ],
  );
}
