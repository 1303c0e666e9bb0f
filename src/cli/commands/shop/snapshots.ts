import type { ComposedShop } from '../../../app/compose.ts';
import { commandName } from '../../../command-name.ts';
import type { SnapshotService } from '../../../sandbox/snapshots/service.ts';
import { ConfigError } from '../../../settings/parsers.ts';
import type { resetOptions } from '../../framework/command-options.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { printResult, printTable } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** @throws ConfigError for a production shop */
function snapshotsOf({ sandbox: { snapshots } }: ComposedShop): SnapshotService {
  if (snapshots === null) {
    throw new ConfigError('A production shop has no snapshots. They are for local and sandbox shops.');
  }
  return snapshots.service;
}

export function createSnapshot(name: string, options: CommandOptions): Promise<void> {
  return withShop(options, async (shop) => {
    const snapshot = await snapshotsOf(shop).create(shop.contextOf('cli'), name);
    printResult(
      options,
      snapshot,
      `Snapshot ${snapshot.id} is made. To go back to it: ${commandName} snapshots restore ${snapshot.id} --yes`,
    );
  });
}

export function listSnapshots(options: CommandOptions): Promise<void> {
  return withShop(options, async (shop) => {
    printTable(options, await snapshotsOf(shop).list(), {
      id: ({ id }) => id,
      name: ({ name }) => name,
      created: ({ createdAt }) => createdAt,
      size: ({ bytes }) => `${(bytes / 1e6).toFixed(1)} MB`,
    });
  });
}

export function restoreSnapshot(id: number, options: OptionsOf<typeof resetOptions>): Promise<void> {
  return withShop(options, async (shop) => {
    const snapshots = snapshotsOf(shop);
    if (!options.yes) {
      throw new ConfigError(
        `This deletes what was changed in this shop (${shop.config.environment}) since the snapshot. Add --yes to confirm.`,
      );
    }
    const now = await snapshots.restore(shop.contextOf('cli'), id);
    printResult(
      options,
      { restored: id, now },
      'The shop is as it was. Accounts, keys and applications are as they are now.',
    );
  });
}

export function deleteSnapshot(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async (shop) => {
    await snapshotsOf(shop).delete(shop.contextOf('cli'), id);
    printResult(options, { deleted: id }, `Snapshot ${id} is deleted.`);
  });
}
