/** Opens resets and snapshots of a shop that is not in production. */

import type { KeyService } from '../../auth/keys/service.ts';
import { commandName } from '../../command-name.ts';
import { findEnvironment } from '../../database/environment.ts';
import { findNewerSchema } from '../../database/migrate.ts';
import { AppError } from '../../errors.ts';
import type { AreaDependencies } from '../../http/area.ts';
import type { ImageService } from '../../images/service.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import type { TestState } from '../test-state.ts';
import { createSnapshotCopies } from './copies.ts';
import { createExclusive } from './exclusive.ts';
import { createReset, type DemoFill } from './reset.ts';
import { snapshotRoutes } from './routes.ts';
import { createSnapshotService } from './service.ts';

interface Dependencies extends AreaDependencies {
  readonly keys: Pick<KeyService, 'countLive'>;
  readonly images: Pick<ImageService, 'pinFiles' | 'unpinFiles'>;
  readonly demoFill: DemoFill;
  readonly testState: TestState;
  readonly profile: Pick<ShopProfile, 'read'>;
}

export function openSnapshots(dependencies: Dependencies) {
  const { database, keys } = dependencies;
  const copies = createSnapshotCopies(dependencies);
  const runExclusively = createExclusive(database);

  async function requireReplaceable(): Promise<void> {
    // Another process can have changed the environment since this server started.
    if ((await findEnvironment(database)) === 'production') {
      throw new AppError(
        'conflict',
        'This is a production shop now, and this server was started before: stop it. Nothing was changed.',
      );
    }
    if ((await keys.countLive()) > 0) {
      throw new AppError(
        'conflict',
        `This shop has live keys, as production shops do. If it is not a production shop, revoke them first: ${commandName} keys revoke <id>`,
      );
    }
    const newer = await findNewerSchema(database);
    if (newer !== null) {
      throw new AppError(
        'conflict',
        `The database is at migration ${newer.database} and this version of Curd knows only ${newer.program}: use reset and snapshots of the newer version.`,
      );
    }
  }

  const shared = { ...dependencies, copies, runExclusively, requireReplaceable };
  const reset = createReset(shared);
  const service = createSnapshotService(shared);
  return {
    service,
    copies,
    reset,
    requireReplaceable,
    routes: snapshotRoutes(service, reset),
    close: async () => copies.close(),
  };
}
