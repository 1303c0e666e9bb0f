/** Lists of all image files, from a folder and from a bucket with several pages. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { AppError } from '../../src/errors.ts';
import type { Files } from '../../src/files/files.ts';
import { openFiles } from '../../src/files/open.ts';
import { cleanUp, temporaryFolder } from '../context.ts';
import { awsSettings, bucket, openBucket } from './bucket.ts';

/** More than one page of a bucket. */
const many = 1005;

async function namesOf(files: Files): Promise<string[]> {
  return (await Array.fromAsync(files.list())).sort();
}

const nameOf = (one: number) => `${one.toString(16).padStart(8, '0')}${'0'.repeat(56)}.png`;

async function put(t: TestContext, files: Files, ...names: string[]): Promise<void> {
  const path = join(await temporaryFolder(t), 'a.png');
  writeFileSync(path, 'an image');
  for (const name of names) {
    await files.put(name, path, 'image/png');
  }
}

async function bucketOf(t: TestContext) {
  const before = { ...process.env };
  cleanUp(t, () => {
    process.env = before;
  });
  // The ciphers that s3rver uses for page positions.
  process.env.NODE_OPTIONS = '--openssl-legacy-provider';
  const server = await openBucket(t);
  Object.assign(process.env, awsSettings(server.endpoint));
  const at = (prefix: string) => openFiles({ images: { kind: 'bucket', bucket, prefix } }, systemClock);
  return { ...server, at };
}

suite('The list of all image files', () => {
  test('The list of all image files in a folder contains the files that were put and not deleted', async (t) => {
    const folder = join(await temporaryFolder(t), 'images');
    const files = await openFiles({ images: { kind: 'folder', folder } }, systemClock);
    assert.deepEqual(await namesOf(files), [], 'a folder that is not there is empty');
    await put(t, files, nameOf(1), nameOf(2 ** 31), nameOf(3), nameOf(3));
    await files.delete(nameOf(3));
    await files.delete(nameOf(4));
    assert.deepEqual(await namesOf(files), [nameOf(1), nameOf(2 ** 31)]);
    for (let one = 0; one < many; one += 1) {
      const shard = join(folder, (one % 256).toString(16).padStart(2, '0'));
      mkdirSync(shard, { recursive: true });
      writeFileSync(join(shard, `more-${one}`), '');
    }
    writeFileSync(join(folder, '.DS_Store'), '');
    assert.equal((await namesOf(files)).length, many + 2);
  });

  test('The list of all image files in a bucket contains the files of all pages below the prefix', async (t) => {
    const { at, folder } = await bucketOf(t);
    const files = await at('some/prefix/');
    assert.deepEqual(await namesOf(files), []);
    await put(t, files, nameOf(0));
    await put(t, await at('some/prefix-of-others/'), nameOf(7));
    await put(t, await at(''), nameOf(8));
    // Written in the format of s3rver, because to put them one by one would take long.
    const place = join(folder, 'some', 'prefix');
    const copies = Array.from({ length: many - 1 }, (_, one) =>
      ['._S3rver_object', '._S3rver_object.md5', '._S3rver_metadata.json'].map((end) =>
        cp(join(place, nameOf(0) + end), join(place, nameOf(one + 1) + end)),
      ),
    );
    await Promise.all(copies.flat());
    const names = await namesOf(files);
    assert.equal(names.length, many);
    assert.deepEqual(
      names,
      Array.from({ length: many }, (_, one) => nameOf(one)),
    );
    await files.delete(nameOf(5));
    assert.equal((await namesOf(files)).length, many - 1);
    assert.deepEqual(await namesOf(await at('some/prefix-of-others/')), [nameOf(7)]);
  });

  test('The list of all image files fails when the bucket is unreachable, instead of being empty', async (t) => {
    const { at, stop } = await bucketOf(t);
    const files = await at('one/');
    await put(t, files, nameOf(1));
    await stop();
    await assert.rejects(
      namesOf(files),
      (error) => error instanceof AppError && error.code === 'unavailable',
    );
  });
});
