/** What a test needs around it, whether or not it opens a shop: what is cleaned up after it, an engine, a clock. */
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

/** A clock that stands still until it is told to move. */
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

/** A test, or whatever else comes to an end. */
export interface Scope {
  after(step: () => unknown): void;
}

const cleanUps = new WeakMap<Scope, (() => unknown)[]>();

/** Does something when the test ends: the last thing opened is the first to be closed, unlike with `t.after`. */
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
 * Something that all tests of a suite, or of a file, use: opened before the first of them and cleaned up after the
 * last. For tests of which none minds what another has left there.
 */
export function shared<T>(open: (t: Scope) => Promise<T>): () => T {
  const steps: (() => unknown)[] = [];
  let opened: { readonly it: T } | undefined;
  before(async () => {
    opened = { it: await open({ after: (step) => steps.push(step) }) };
  });
  after(async () => {
    for (const step of steps) {
      await step();
    }
  });
  return () => {
    assert.ok(opened !== undefined, 'it is there while tests run');
    return opened.it;
  };
}

/** Waits for what comes to be so by itself. */
export async function until(
  isSo: () => Promise<boolean>,
  what = 'it did not happen',
  patienceMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, what);
    await sleep(10);
  }
}

/** A folder that goes away with the test. */
export async function temporaryFolder(t: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'curd-test-'));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A fresh database on the PostgreSQL of this run, with the schema already where it comes from `template_curd`. */
export async function createDatabase(
  t: Scope,
  template: 'template1' | 'template_curd' = 'template1',
): Promise<string> {
  const url = process.env.CURD_TEST_POSTGRES;
  assert.ok(url !== undefined, 'PostgreSQL is not there: run the tests with "npm test"');
  const name = `curd_${randomBytes(8).toString('hex')}`;
  const { default: postgres } = await import('postgres');
  const server = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} });
  // Its files are copied as they are, and not page by page through the log.
  await server.unsafe(`create database ${name} template ${template} strategy file_copy`);
  cleanUp(t, async () => {
    await server.unsafe(`drop database if exists ${name} with (force)`);
    await server.end();
  });
  return `${url}/${name}`;
}

/** A secret as the settings want one. */
export const secret = 'a secret that is only good for tests';

/** An address to ship to. */
export const bern = { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' };
