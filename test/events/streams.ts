/** Open event streams of tests, and events to fill the log with. */
import assert from 'node:assert/strict';
import { sql } from '../../src/database/sql.ts';
import type { NewEvent } from '../../src/event-log/define.ts';
import { recordEvents } from '../../src/event-log/record.ts';
import { cleanUp, type Scope, until } from '../context.ts';
import type { ListeningShop, Shop } from '../helper.ts';

export interface Block {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly id: string; readonly sequence: number; readonly subject: string };
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Headers;
  readonly blocks: Block[];
  /** The id of the last complete block, with or without an event. */
  lastId(): string;
  /** Everything that was received. */
  text(): string;
  isEnded(): boolean;
  close(): void;
}

/** @param bytesMax the connection is cut after so many bytes */
export async function openStream(
  t: Scope,
  shop: Pick<ListeningShop, 'url' | 'admin'>,
  query = '',
  headers: Readonly<Record<string, string>> = {},
  as = shop.admin,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<OpenStream> {
  const abort = new AbortController();
  const response = await fetch(`${shop.url}/v2/events/stream${query}`, {
    headers: { 'x-api-key': as, ...headers },
    signal: abort.signal,
  });
  const blocks: Block[] = [];
  let isEnded = false;
  let lastId = '';
  let all = Buffer.alloc(0);
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) {
      const bytes = Buffer.from(chunk).subarray(0, bytesMax - all.length);
      all = Buffer.concat([all, bytes]);
      text += bytes.toString();
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const fields = new Map(
          text
            .slice(0, end)
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        text = text.slice(end + 2);
        lastId = fields.get('id') ?? lastId;
        if (fields.has('data')) {
          const [id = '', event = '', data = ''] = ['id', 'event', 'data'].map(
            (name) => fields.get(name) ?? '',
          );
          blocks.push({ id, event, data: JSON.parse(data) });
        }
      }
      if (all.length >= bytesMax) {
        abort.abort();
      }
    }
  })()
    .catch(() => {})
    .finally(() => {
      isEnded = true;
    });
  const close = () => abort.abort();
  cleanUp(t, async () => {
    close();
    await reading;
  });
  return {
    status: response.status,
    headers: response.headers,
    blocks,
    lastId: () => lastId,
    text: () => all.toString(),
    isEnded: () => isEnded,
    close,
  };
}

/** Records events without their changes, and waits until they have numbers. */
export async function fillLog(shop: Shop, events: readonly NewEvent[]): Promise<void> {
  const { database, contextOf } = shop.app;
  await database.transaction(async (tx) => {
    await tx.run(sql`update catalogue set version = version`);
    await recordEvents(tx, contextOf('test').origin, new Date().toISOString(), events);
  });
  await untilNumbered(shop);
}

/** Waits until no event is without a number. */
export async function untilNumbered({ app }: Shop): Promise<void> {
  await until(async () => {
    const row = await app.database.get<{ waiting: number }>(
      sql`select count(*) as waiting from event where sequence is null`,
    );
    return row?.waiting === 0;
  }, 'events have no number');
}

/** All numbers of the log, from the list. */
export async function listSequences(shop: Shop): Promise<number[]> {
  const sequences: number[] = [];
  for (let since = 'earliest', hasMore = true; hasMore; ) {
    const url = `/v2/events?since=${since}&limit=100`;
    const { status, text, json } = await shop.request('GET', url, { as: shop.admin });
    assert.equal(status, 200, text);
    sequences.push(...json.items.map(({ sequence }: { sequence: number }) => sequence));
    since = json.next;
    hasMore = json.hasMore;
  }
  return sequences;
}
