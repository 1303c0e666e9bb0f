/** CURD_LOCAL_KEY: a key that is known before the start, for tests and CI. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeKey } from '../../src/auth/keys/format.ts';
import { systemClock } from '../../src/clock.ts';
import { secret } from '../context.ts';
import { assertRefused, curd, curdProcess, freshShop, serve } from './run.ts';

const key = makeKey('test', systemClock);

test('A local server creates the key of CURD_LOCAL_KEY once, and later starts accept it', async (t) => {
  const environment = await freshShop(t, { CURD_LOCAL_KEY: key });
  for (const _ of [1, 2]) {
    const server = await serve(t, environment);
    assert.equal(server.firstKey, key);
    assert.equal(await server.statusFor(key, 'POST'), 201);
    await server.stop();
  }
  const { CURD_LOCAL_KEY: _, ...without } = environment;
  assert.equal(
    (await curd(without, 'keys', 'list', '--account', 'local', '--json')).stdout.split('"last4"').length,
    2,
  );
});

test('CURD_LOCAL_KEY is refused where it is no test key, has a wrong checksum, or the shop is not local', async (t) => {
  const environment = await freshShop(t, { CURD_SECRET: secret });
  const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
  for (const [more, message] of [
    [{ CURD_LOCAL_KEY: 'sk_test_short' }, /CURD_LOCAL_KEY must be a test key/],
    [
      { CURD_LOCAL_KEY: key, CURD_ENVIRONMENT: 'sandbox' },
      /CURD_LOCAL_KEY is for the environment local only/,
    ],
    [{ CURD_LOCAL_KEY: wrong, CURD_PORT: '0' }, /The checksum of CURD_LOCAL_KEY is wrong/],
  ] as const) {
    assertRefused(await curdProcess({ ...environment, ...more }, 'serve'), message);
  }
});
