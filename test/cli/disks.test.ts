/** Commands on a disk that is full or read-only name it, and what to do. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { onReadOnlyDisk, onSmallDisk, skipUnmountable } from '../mounts.ts';
import { assertRefused, createStock, freshShop, resultOf, start } from './run.ts';

suite('A disk with a fault', { skip: skipUnmountable }, () => {
  test('A full disk is named by a backup that is written to it', async (t) => {
    const environment = await freshShop(t);
    await createStock(environment, { prices: [1], scopes: [] });
    const disk = join(environment.CURD_DATA_DIR ?? '', 'backups');
    await mkdir(disk);
    const args = ['backup', join(disk, 'shop.tar')];
    assertRefused(
      await resultOf(start(args, environment, onSmallDisk(disk, 100))),
      /The disk of .*shop\.tar.* is full\. Nothing was changed\. Free some space/,
    );
  });

  test('A read-only disk is no reason for doctor to advise to restore a backup', async (t) => {
    const environment = await freshShop(t);
    await createStock(environment, { prices: [1], scopes: [] });
    const folder = environment.CURD_DATA_DIR ?? '';
    assertRefused(
      await resultOf(start(['doctor'], environment, onReadOnlyDisk(folder))),
      /cannot be opened: .* must not be read-only/,
    );
  });
});
