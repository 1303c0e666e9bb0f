/** Several processes: one that is killed, one that has a lock, one that closes. */
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/database/open.ts';
import { sql } from '../../src/database/sql.ts';
import { cleanUp, onBothEngines } from '../context.ts';
import { freshConfig, insertNote, open, openNotes, textsIn } from './notes.ts';

const source = new URL('../../src/', import.meta.url).href;

onBothEngines('A database', (engine) => {
  test('A database keeps committed writes when its process is killed', { timeout: 20_000 }, async (t) => {
    const config = await freshConfig(t, engine);
    const database = await openNotes(t, engine, config);
    const child = startChild(
      t,
      `import { openDatabase } from '${source}database/open.ts';
       import { sql } from '${source}database/sql.ts';
       const database = await openDatabase(${JSON.stringify(config)});
       let id = 0;
       const write = async () => {
         for (;;) {
           const mine = ++id;
           await database.transaction((tx) => tx.run(
             sql\`insert into note (id, text) values (\${mine}, \${'note ' + mine})\`));
           process.stdout.write(mine + '\\n');
         }
       };
       for (let writer = 0; writer < 8; writer += 1) write();`,
    );
    const answered: number[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      answered.push(Number(line));
      if (answered.length === 300) {
        child.kill('SIGKILL');
      }
    }
    assert.ok(answered.length >= 300, 'the child process died by itself');
    const stored = await database.all<{ id: number }>(sql`select id from note`);
    const ids = new Set(stored.map(({ id }) => id));
    assert.deepEqual(
      answered.filter((id) => !ids.has(id)),
      [],
    );
    await database.run(insertNote(0, 'after'));
  });

  test('A database finishes waiting writes before it closes', async (t) => {
    const config = await freshConfig(t, engine);
    await (await openNotes(t, engine, config)).run(insertNote(0, 'first'));
    const database = await openDatabase(config);
    const writes = Array.from({ length: 50 }, (_, index) =>
      database.transaction((tx) => tx.run(insertNote(index + 1, `note ${index}`))),
    );
    await database.close();
    assert.deepEqual(await Promise.all(writes), Array(50).fill(1));
    assert.equal((await textsIn(await open(t, config))).length, 51);
  });
});

suite('SQLite', () => {
  test('SQLite waits for another process that writes, and reads meanwhile', {
    timeout: 20_000,
  }, async (t) => {
    const config = await freshConfig(t, 'sqlite');
    const database = await openNotes(t, 'sqlite', config);
    assert.ok(config.database.engine === 'sqlite');
    const child = startChild(
      t,
      `import { DatabaseSync } from 'node:sqlite';
       const connection = new DatabaseSync(${JSON.stringify(config.database.file)});
       connection.exec("begin immediate; insert into note (id, text) values (1, 'theirs')");
       console.log('locked');
       setTimeout(() => connection.exec('commit'), 1000);`,
    );
    await once(child.stdout, 'data');
    const start = performance.now();
    let writtenAfter = Number.NaN;
    const write = database
      .transaction((tx) => tx.run(insertNote(2, 'ours')))
      .then(() => {
        writtenAfter = performance.now() - start;
      });
    let reads = 0;
    let longestMs = 0;
    while (Number.isNaN(writtenAfter) && performance.now() - start < 800) {
      const before = performance.now();
      assert.deepEqual(await textsIn(database), []);
      longestMs = Math.max(longestMs, performance.now() - before);
      reads += 1;
      await sleep(5);
    }
    assert.ok(Number.isNaN(writtenAfter), 'the write did not wait');
    assert.ok(reads > 3, `only ${reads} reads were answered meanwhile`);
    assert.ok(longestMs < 700, `a read took ${longestMs} ms`);
    await write;
    assert.deepEqual(await textsIn(database), ['theirs', 'ours']);
  });
});

/** A separate process that runs a module and ends with the test at the latest. */
function startChild(t: TestContext, script: string): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUp(t, async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  return child;
}
