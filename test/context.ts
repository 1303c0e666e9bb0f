/** Helpers of all tests: cleanup, engines, a clock, folders and databases. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
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
    // The runner keeps this function to its end, but not what the test has opened.
    for (let one = first.pop(); one !== undefined; one = first.pop()) {
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
    opened = undefined;
    for (const step of steps.splice(0)) {
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
export async function temporaryFolder(t: Scope, parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'curd-test-'));
  cleanUp(t, () => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The data folders of shops, with `template.sqlite`. Read at once, because commands have an environment of their own. */
const shopsFolder = process.env.CURD_TEST_SHOPS;

/** A data folder, in memory where there is enough, with an empty shop in SQLite. Copying it is faster than migrating. */
export async function shopFolder(t: Scope): Promise<string> {
  const folder = await temporaryFolder(t, shopsFolder);
  if (shopsFolder !== undefined) {
    await copyFile(join(shopsFolder, 'template.sqlite'), join(folder, 'curd.sqlite'));
  }
  return folder;
}

/** The PostgreSQL of this test run, as its superuser. Read at once, because commands in this process have an environment of their own. */
export const postgresUrl = process.env.CURD_TEST_POSTGRES;
/** The same as the owner of the databases of shops, who has few rights. */
const shopsPostgresUrl = process.env.CURD_TEST_SHOPS_POSTGRES;

/**
 * A new database on the PostgreSQL of this test run.
 * @param template `template_curd` already has the schema. The name of any other database without connections copies it
 */
export async function createDatabase(t: Scope, template = 'template1'): Promise<string> {
  assert.ok(shopsPostgresUrl !== undefined, 'PostgreSQL does not run. Run the tests with "npm test".');
  const name = `curd_${randomBytes(8).toString('hex')}`;
  // Copies files instead of writing every page to the log, which is faster.
  await administer(`create database ${name} owner curd template ${template} strategy file_copy`);
  cleanUp(t, () => administer(`drop database if exists ${name} with (force)`));
  const url = new URL(shopsPostgresUrl);
  url.pathname = name;
  return url.href;
}

interface Administration {
  readonly run: (statement: string) => Promise<unknown>;
  readonly socket: Socket;
}

let administration: Promise<Administration> | undefined;
let running = 0;

async function connectToAdminister(): Promise<Administration> {
  const { default: pg } = await import('pg');
  const socket = new Socket();
  // With pipelining, because callers do not wait for each other.
  const options = { connectionString: `${postgresUrl}/postgres`, pipeline: true, stream: () => socket };
  const client = new pg.Client(options);
  await client.connect();
  return { run: (text) => client.query(text), socket };
}

/** Runs a statement on the one connection of this process that creates and drops databases. It ends with the process. */
async function administer(statement: string): Promise<void> {
  administration ??= connectToAdminister();
  const { run, socket } = await administration;
  running += 1;
  socket.ref();
  try {
    await run(statement);
  } finally {
    running -= 1;
    if (running === 0) {
      // An idle connection does not keep the process alive.
      socket.unref();
    }
  }
}

/** A valid CURD_SECRET. */
export const secret = 'a secret that is only good for tests';

/** A shipping address. */
export const bern = { street: 'Gerechtigkeitsgasse 1', city: 'Bern', country: 'CH' };
