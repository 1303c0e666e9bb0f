/** The commands on the clock, and the settings that prevent a start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secret } from '../context.ts';
import { assertRefused, curd, curdJson, freshShop, inShop } from './run.ts';

test('curd clock advance moves the time of the shop, and curd reset sets it back', async (t) => {
  const environment = await freshShop(t);
  await inShop(environment, async () => {});
  const before = await curdJson(environment, 'clock', 'show');
  assert.deepEqual([before.advancedBy, before.movable], ['PT0S', true]);
  const dry = await curd(environment, 'clock', 'advance', '3d', '--dry-run');
  assert.match(dry.stdout, /Nothing was changed/);
  const moved = await curdJson(environment, 'clock', 'advance', '3d');
  assert.equal(moved.did.approved, 0);
  assert.equal((await curdJson(environment, 'clock', 'show')).advancedBy, 'P3D');
  assert.match((await curd(environment, 'clock', 'advance', '2s')).stdout, /^It is \d{4}-/);
  assertRefused(
    await curd(environment, 'clock', 'advance', 'soon'),
    /<duration> is "soon": set it to how far/,
  );
  assertRefused(await curd(environment, 'clock', 'advance', '2001-01-01T00:00:00Z'), /is in the past/);
  const doctor = await curd(environment, 'doctor');
  assert.equal(doctor.code, 0, doctor.stderr);
  assert.match(doctor.stdout, /the time of the shop was moved forward.*\n.*by P3DT2S/);

  const system = { ...environment, CURD_CLOCK: 'system' };
  assertRefused(
    await curd(system, 'keys', 'list', '--account', 'x'),
    /was moved forward.*CURD_CLOCK=movable.*curd reset/,
  );
  const production = {
    ...environment,
    CURD_CLOCK: '',
    CURD_PUBLIC_URL: 'https://shop.example',
    CURD_SECRET: secret,
  };
  assertRefused(await curd(production, 'environment', 'change', 'production'), /was moved forward/);
  assert.equal((await curd(environment, 'reset', '--yes')).code, 0);
  assert.equal((await curdJson(environment, 'clock', 'show')).advancedBy, 'PT0S');
  const shown = await curd(system, 'clock', 'show');
  assert.match(shown.stdout, /the time of the machine: CURD_CLOCK=movable/);
  assertRefused(await curd(system, 'clock', 'advance', '1d'), /CURD_CLOCK=movable/);
});

test('Production refuses the settings of tests that move the clock', async (t) => {
  const local = await freshShop(t);
  await inShop(local, async () => {});
  const environment = {
    ...local,
    CURD_ENVIRONMENT: 'production',
    CURD_PUBLIC_URL: 'https://shop.example',
    CURD_SECRET: secret,
  };
  for (const [name, value] of [
    ['CURD_CLOCK', 'movable'],
    ['CURD_AUTO_SHIP', 'true'],
    ['CURD_AUTO_DELIVER', '3d'],
  ] as const) {
    const run = await curd({ ...environment, [name]: value }, 'keys', 'list', '--account', 'x');
    assertRefused(run, new RegExp(`${name} is "${value}": that is for tests`));
  }
});
