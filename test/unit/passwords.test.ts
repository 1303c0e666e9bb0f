/** Passwords: the stored hashes, the queues and their limits, and the child processes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPasswords, type Passwords, passwordProcessesMax } from '../../src/auth/passwords.ts';
import { systemClock } from '../../src/clock.ts';
import { AppError } from '../../src/errors.ts';
import { toErrorHeaders, toErrorStatus } from '../../src/http/responses/error-mapping.ts';
import { cleanUp } from '../helper.ts';

const waitingMax = 64;

const linuxOnly = {
  skip: process.platform === 'linux' ? false : 'child processes are found in /proc, which only Linux has',
};

/** Passwords whose child processes end with the test. */
function open(t: TestContext): Passwords {
  const passwords = createPasswords(systemClock);
  cleanUp(t, passwords.close);
  return passwords;
}

/** The running child processes of this process. */
async function children(): Promise<number[]> {
  const pids = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  return pids
    .split(' ')
    .map(Number)
    .filter((pid) => pid > 0);
}

suite('Passwords', () => {
  test('Passwords match their own hash only', async (t) => {
    const passwords = open(t);
    for (const password of ['x', ' ', 'Roquefort 9', '🧀'.repeat(256), 'a\u0000b', 'x'.repeat(1024)]) {
      const stored = await passwords.hash(password);
      assert.equal(await passwords.verify(stored, password), true);
      assert.equal(await passwords.verify(stored, `${password} `), false);
      assert.equal(await passwords.verify(stored, password.slice(0, -2)), false);
      assert.equal(passwords.isOutdated(stored), false);
    }
    const stored = await passwords.hash('a\u0000b');
    assert.equal(await passwords.verify(stored, 'a'), false);
    assert.equal(await passwords.verify(stored, 'a\u0000c'), false);
    assert.equal(await passwords.verify(stored, 'A\u0000b'), false);
  });

  test('Passwords are stored as argon2id with 19 MiB, two passes, one lane and a new salt each', async (t) => {
    const passwords = open(t);
    const [one, other] = await Promise.all([passwords.hash('brie'), passwords.hash('brie')]);
    for (const stored of [one, other]) {
      assert.match(stored ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    }
    assert.notEqual(one, other);
  });

  test('Passwords never match for an unknown customer', async (t) => {
    const passwords = open(t);
    for (const password of ['', 'brie', systemClock.uuid()]) {
      assert.equal(await passwords.verify(null, password), false);
    }
  });

  test('Passwords are the same in NFC and NFD, but not in full width', async (t) => {
    const passwords = open(t);
    for (const [one, other] of [
      ['caf\u00e9', 'cafe\u0301'],
      ['cafe\u0301', 'caf\u00e9'],
      ['\u1112\u1161\u11ab', '\ud55c'],
    ] as const) {
      assert.equal(await passwords.verify(await passwords.hash(one), other), true);
    }
    assert.equal(await passwords.verify(await passwords.hash('brie'), 'ｂｒｉｅ'), false);
  });

  test('Passwords are outdated when any parameter differs from the current ones', () => {
    const { isOutdated } = createPasswords(systemClock);
    const rest = 'c29tZXNhbHRzb21lc2FsdA$MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE';
    assert.equal(isOutdated(`$argon2id$v=19$m=19456,t=2,p=1$${rest}`), false);
    for (const figures of [
      '$argon2id$v=19$m=1945,t=2,p=1$',
      '$argon2id$v=19$m=194560,t=2,p=1$',
      '$argon2id$v=19$m=19456,t=20,p=1$',
      '$argon2id$v=19$m=19456,t=2,p=10$',
      '$argon2id$v=16$m=19456,t=2,p=1$',
      '$argon2i$v=19$m=19456,t=2,p=1$',
    ]) {
      assert.equal(isOutdated(`${figures}${rest}`), true, figures);
    }
  });

  test('Passwords are verified one or two at a time; 64 wait in order, more are refused, and later calls succeed', async (t) => {
    const passwords = open(t);
    const stored = await passwords.hash('brie');
    const ended: number[] = [];
    const calls = Array.from({ length: passwordProcessesMax + waitingMax + 3 }, async (_, index) => {
      try {
        return await passwords.verify(index % 2 === 0 ? stored : null, 'brie');
      } finally {
        ended.push(index);
      }
    });
    const outcomes = await Promise.allSettled(calls);
    const isRight = outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason));
    for (const [index, outcome] of isRight.entries()) {
      if (index < passwordProcessesMax + waitingMax) {
        assert.equal(outcome, index % 2 === 0, `call ${index}`);
      } else {
        assert.ok(outcome instanceof AppError, `call ${index}`);
        assert.deepEqual(
          [outcome.code, toErrorStatus(outcome), toErrorHeaders(outcome)],
          ['unavailable', 503, { 'Retry-After': '1' }],
        );
      }
    }
    const turnedAway = ended.slice(0, 3).sort((a, b) => a - b);
    const admitted = passwordProcessesMax + waitingMax;
    assert.deepEqual(turnedAway, [admitted, admitted + 1, admitted + 2]);
    for (const [place, index] of ended.entries()) {
      const earlier = Array.from({ length: index }, (_, one) => one);
      const unfinished = earlier.filter((one) => !ended.slice(0, place).includes(one));
      assert.ok(
        index >= passwordProcessesMax + waitingMax || unfinished.length < passwordProcessesMax,
        `${unfinished} before ${index}`,
      );
    }
    const again = Array.from({ length: 2 * passwordProcessesMax }, () => passwords.verify(stored, 'brie'));
    assert.ok((await Promise.all(again)).every((one) => one));
  });

  test('Passwords that are hashed leave a slot for logins, and a batch is refused as a whole when too many wait', async (t) => {
    const passwords = open(t);
    const stored = await passwords.hash('brie');
    const ended: string[] = [];
    const note = async (name: string, work: Promise<unknown>) => {
      await work;
      ended.push(name);
    };
    const batch = note('batch', passwords.hashAll(Array<string>(40).fill('brie')));
    const second = note('second batch', passwords.hashAll(Array<string>(30).fill('brie')));
    const refused = passwords.hashAll(Array<string>(100).fill('brie'));
    await assert.rejects(refused, (error) => error instanceof AppError && error.code === 'unavailable');
    const logins = Array.from({ length: 10 }, () => note('login', passwords.verify(stored, 'brie')));
    await Promise.all([batch, ...logins]);
    assert.equal(ended.indexOf('batch'), 10, 'ten logins finish before a batch of 40');
    await second;
  });

  test('Passwords fail when their worker is killed, and a new worker replaces it', linuxOnly, async (t) => {
    const passwords = open(t);
    const stored = await passwords.hash('brie');
    const underWay = Array.from({ length: 4 }, () => passwords.verify(stored, 'brie'));
    for (const pid of await children()) {
      process.kill(pid, 'SIGKILL');
    }
    const outcomes = await Promise.allSettled(underWay);
    assert.ok(outcomes.some(({ status }) => status === 'rejected'));
    // The exit of an idle worker may be noticed only with its next task.
    const tries = [1, 2, 3].map(() => passwords.verify(stored, 'brie').catch(() => false));
    assert.ok((await Promise.all(tries)).includes(true));
    assert.equal(await passwords.verify(stored, 'brie'), true);
  });

  test('Passwords leave no idle child process after close', linuxOnly, async (t) => {
    const passwords = open(t);
    const before = await children();
    await Promise.all([passwords.hash('brie'), passwords.verify(null, 'brie')]);
    const started = (await children()).filter((pid) => !before.includes(pid));
    assert.equal(started.length, passwordProcessesMax);
    passwords.close();
    let left = started;
    for (let tries = 0; left.length > 0 && tries < 500; tries += 1) {
      await sleep(10);
      const running = await children();
      left = started.filter((pid) => running.includes(pid));
    }
    assert.deepEqual(left, []);
  });

  test('Passwords that cause an error in the worker release their slot', async (t) => {
    const passwords = open(t);
    for (let count = 0; count < 3 * passwordProcessesMax; count += 1) {
      await assert.rejects(passwords.verify('no hash', 'brie'));
    }
    assert.equal(await passwords.verify(await passwords.hash('brie'), 'brie'), true);
  });
});
