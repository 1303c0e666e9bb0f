/** Events of approvals come in the order of the requests that cause them, whichever instance processes each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { cleanUp, onBothEngines, openShop, type Scope, type Shop, testClock, until } from '../helper.ts';

/** The order once differed in a run of other tests: set it to 200 to look for that again. */
const rounds = Number(process.env.CURD_TEST_APPROVAL_ORDER ?? 8);
/** Decisions at the same time, in each round. */
const atOnce = 6;

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
const past: Readonly<Record<string, string>> = { deny: 'denied', approve: 'approved', revoke: 'revoked' };
const lifetimeMs = 90 * 24 * 60 * 60_000;

interface Listed {
  readonly sequence: number;
  readonly type: string;
  readonly subject: string;
  readonly requestId: string | null;
}

/** All events of approvals, when every event has its number. */
async function listApprovals(shop: Shop): Promise<Listed[]> {
  const { database } = shop.app;
  const waiting = sql`select id from event where sequence is null limit 1`;
  await until(async () => (await database.get(waiting)) === undefined);
  const events: Listed[] = [];
  for (let since = 'earliest', hasMore = true; hasMore; ) {
    const url = `/v2/events?types=approval.*&limit=100&since=${since}`;
    const { json } = await shop.request('GET', url, { as: shop.admin });
    events.push(...json.items);
    ({ next: since, hasMore } = json);
  }
  return events;
}

onBothEngines('Events of approvals', (engine) => {
  async function open(t: Scope) {
    const clock = testClock();
    const shop = await openShop(t, { engine, clock });
    const shops = engine === 'postgres' ? [shop, await shop.another()] : [shop];
    const as = shop.admin;
    await shop.request('POST', '/v2/accounts', { as, body: { name: 'diary' } });
    return {
      clock,
      shop,
      shops,
      async newClient(): Promise<string> {
        const body = { name: 'Diary', account: 'diary', scopes: ['read:cheeses'] };
        return (await shop.request('POST', '/v2/oauth-clients', { as, body })).json.clientId;
      },
      decide: (id: number, verb: string, requestId: string) =>
        pick(shops).request('POST', `/v2/approvals/${id}/${verb}`, {
          as,
          headers: { 'x-request-id': requestId },
        }),
    };
  }

  test('Events of approvals follow requests that wait for each other, through any instance', async (t) => {
    const { shop, shops, newClient, decide } = await open(t);
    const expected: string[] = [];
    // Transactions that stay open, and an old snapshot, as during a dump, delay neither numbers nor their order.
    let isOver = false;
    const { database } = shop.app;
    const snapshot = database.snapshot(async (tx) => {
      await tx.get(sql`select id from event limit 1`);
      await until(async () => isOver, 'it is never over', 600_000);
    });
    cleanUp(t, () => snapshot);
    for (let round = 0; round < rounds; round += 1) {
      const clients = [await newClient(), await newClient()];
      const ids: number[] = [];
      for (const client of clients) {
        const { id } = await pick(shops).app.oauth.approvals.request(client, null);
        ids.push(id);
        expected.push(`approval:${id} approval.requested`);
      }
      for (const verb of ['deny', 'approve', 'revoke', 'deny', 'approve']) {
        for (const id of ids) {
          const { status } = await decide(id, verb, `${round}`);
          assert.equal(status, 200);
          expected.push(`approval:${id} approval.${past[verb]}`);
        }
      }
    }
    isOver = true;
    const listed = (await listApprovals(shop)).map(({ subject, type }) => `${subject} ${type}`);
    assert.deepEqual(listed, expected);
  });

  test('Events of the approvals of one subject are a possible history, with decisions and new requests at the same time', async (t) => {
    const { clock, shop, shops, newClient, decide } = await open(t);
    const approvals = () => pick(shops).app.oauth.approvals;
    for (let round = 0; round < rounds; round += 1) {
      const client = await newClient();
      const { id } = await approvals().request(client, null);
      const verbs = Array.from({ length: atOnce }, () =>
        pick(['approve', 'deny', 'revoke', 'request', 'expire']),
      );
      const decided = await Promise.all(
        verbs.map(async (verb, index) => {
          if (verb === 'expire') {
            clock.advance(lifetimeMs + 1);
          }
          if (verb === 'expire' || verb === 'request') {
            await approvals().request(client, null);
            return null;
          }
          const requestId = `${round}-${index}`;
          return (await decide(id, verb, requestId)).status === 200 ? requestId : null;
        }),
      );
      const events = (await listApprovals(shop)).filter(({ subject }) => subject === `approval:${id}`);
      const history = events.map(({ type }) => type.replace('approval.', ''));
      for (const [index, status] of history.entries()) {
        const before = history[index - 1];
        const allowed = {
          // A second request is recorded where an approval has expired.
          requested: before === undefined || before === 'approved',
          approved: before !== undefined,
          denied: before !== undefined && before !== 'approved',
          revoked: before === 'approved',
        }[status];
        assert.equal(allowed, true, history.join(', '));
      }
      assert.deepEqual(
        events.flatMap(({ requestId }) => requestId ?? []).toSorted(),
        decided.filter((requestId) => requestId !== null).toSorted(),
        'each decision has its event, and no other one',
      );
      const [row] = (await approvals().list()).filter((one) => one.id === id);
      assert.equal(row?.status, history.at(-1) === 'requested' ? 'pending' : history.at(-1));
    }
  });
});
