/** Concurrent changes of objects of the authorization server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGrants } from '../../src/auth/oauth/grants.ts';
import { createAdapters } from '../../src/auth/oauth/provider/adapter.ts';
import { createRotations } from '../../src/auth/oauth/provider/rotation.ts';
import { systemClock } from '../../src/clock.ts';
import { migrate } from '../../src/database/migrate.ts';
import { onBothEngines, secret } from '../context.ts';
import { freshConfig, open } from '../database/notes.ts';

class AlreadyUsed extends Error {}

onBothEngines('A token', (engine) => {
  for (const [how, accountId] of [
    ['taken back', '1'],
    ["ended with all of its customer's", '2'],
  ] as const) {
    test(`An OAuth token is not stored, or does not stay, where its grant is ${how} at that moment`, async (t) => {
      const database = await open(t, await freshConfig(t, engine));
      await migrate(database);
      const clock = systemClock;
      const origin = { actor: 'test', requestId: null, traceId: null, effects: null };
      const context = { transaction: database.transaction, origin };
      const adapterOf = createAdapters({
        database,
        clock,
        alreadyUsed: () => new AlreadyUsed(),
        rotations: createRotations(clock, secret, () => new AlreadyUsed()),
        consoleClient: null,
        issuer: 'http://127.0.0.1',
      });
      const [grants, tokens] = [adapterOf('Grant'), adapterOf('AccessToken')];
      for (let round = 0; round < 20; round += 1) {
        const grantId = `grant ${round}`;
        await grants.upsert(grantId, { accountId }, 60);
        const names = Array.from({ length: 6 }, (_, place) => `${round} ${place}`);
        const end = () =>
          accountId === '1'
            ? grants.destroy(grantId)
            : database.transaction((tx) =>
                createGrants(database, clock).revokeAll(tx, context, Number(accountId)),
              );
        const storing = names.map((name) => tokens.upsert(name, { grantId, accountId }, 60));
        const outcomes = await Promise.allSettled([...storing.slice(0, 3), end(), ...storing.slice(3)]);
        for (const outcome of outcomes) {
          assert.ok(outcome.status === 'fulfilled' || outcome.reason instanceof AlreadyUsed);
        }
        const found = await Promise.all(names.map((name) => tokens.find(name)));
        assert.deepEqual(
          found.filter((one) => one !== undefined),
          [],
        );
        await assert.rejects(tokens.upsert('late', { grantId, accountId }, 60), AlreadyUsed);
      }
    });
  }
});
