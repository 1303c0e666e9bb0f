/** Helpers of all tests: cleanup, engines, a clock, folders and databases. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../src/clock.ts';
import type { Engine } from '../src/database/sql.ts';

export const engines = ['sqlite', 'postgres'] as const;

/** Registers the same tests for each engine. */
export function onBothEngines(name: string, register: (engine: Engine) => void): void {
  for (const engine of engines) {
    suite(`${name} (${engine})`, () => register(engine));
  }
}

/** A clock that only `advance` changes. */
export interface TestClock extends Clock {
  advance(milliseconds: number): void;
}

export function testClock(start = Date.parse('2026-06-01T12:00:00.000Z')): TestClock {
  let now = start;
  return {
    ...systemClock,
    isSystem: false,
    now: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
  };
}

/** A test, a suite, or anything else that runs steps at its end. */
export interface Scope {
  after(step: () => unknown): void;
}

const cleanUps = new WeakMap<Scope, (() => unknown)[]>();

/** Runs a step after the test, the last registered step first. `t.after` runs them in the order of registration. */
export function cleanUp(t: Scope, step: () => unknown): void {
  const steps = cleanUps.get(t);
  if (steps !== undefined) {
    steps.push(step);
    return;
  }
  const first = [step];
  cleanUps.set(t, first);
  t.after(async () => {
    for (const one of first.reverse()) {
      await one();
    }
  });
}

/**
 * A resource that all tests of a suite or file share. It is opened before the first test and cleaned up after the last.
 * Use it only for tests that do not depend on what others leave in it.
 */
export function shared<T>(open: (t: Scope) => Promise<T>): () => T {
  const steps: (() => unknown)[] = [];
  let opened: { readonly resource: T } | undefined;
  before(async () => {
    opened = { resource: await open({ after: (step) => steps.push(step) }) };
  });
  after(async () => {
    for (const step of steps) {
      await step();
    }
  });
  return () => {
    assert.ok(opened !== undefined, 'use it only while tests run');
    return opened.resource;
  };
}

/** Waits until a condition is true. */
export async function until(
  isTrue: () => Promise<boolean>,
  message = 'the condition did not become true',
  timeoutMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, message);
    await sleep(10);
  }
}

/** A folder that is deleted after the test. */
export async function temporaryFolder(t: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'curd-test-'));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The PostgreSQL of this test run. Read at once, because commands in this process have an environment of their own. */
export const postgresUrl = process.env.CURD_TEST_POSTGRES;
const poolerUrl = process.env.CURD_TEST_POOLER_URL;

/**
 * A new database on the PostgreSQL of this test run.
 * @param template `template_curd` already has the schema. The name of any other database without connections copies it
 */
export async function createDatabase(t: Scope, template = 'template1'): Promise<string> {
  assert.ok(postgresUrl !== undefined, 'PostgreSQL does not run. Run the tests with "npm test".');
  const name = `curd_${randomBytes(8).toString('hex')}`;
  const { default: postgres } = await import('postgres');
  const server = postgres(`${postgresUrl}/postgres`, { max: 1, onnotice: () => {} });
  // Copies files instead of writing every page to the log, which is faster.
  await server.unsafe(`create database ${name} template ${template} strategy file_copy`);
  cleanUp(t, async () => {
    await server.unsafe(`drop database if exists ${name} with (force)`);
    await server.end();
  });
  return poolerUrl === undefined ? `${postgresUrl}/${name}` : `${poolerUrl}/${name}?prepare=false`;
}

/** A valid CURD_SECRET. */
export const secret = 'a secret that is only good for tests';

/** A shipping address. */
export const bern = { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' };
