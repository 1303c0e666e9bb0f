/** Whether pictures have their files, and files their pictures. */
import type { Sql } from '../database/database.ts';
import { Faults, type Finding } from '../database/inspection.ts';
import { sql } from '../database/sql.ts';
import type { Files } from '../files/files.ts';

const sweepMinutes = 60;

/** @param now milliseconds since the epoch */
export async function inspectImages(database: Sql, files: Files, now: number): Promise<Finding[]> {
  const missing = new Faults(
    'pictures whose files are gone',
    'bring the files back from a backup, or upload the pictures again',
  );
  const orphans = new Faults(
    'files that belong to no picture',
    'delete them, or leave them: nobody sees them',
  );
  const loose = new Faults(
    `files that should have been swept more than ${sweepMinutes} minutes ago`,
    'let a server run for some minutes, and see in its log whether sweeping fails',
  );
  const known = new Map(
    (
      await database.all<{ name: string; state: string; since: string }>(
        sql`select name, state, since from image_file`,
      )
    ).map(({ name, ...rest }) => [name, rest]),
  );
  const present = new Set<string>();
  for await (const name of files.list()) {
    present.add(name);
    if (!known.has(name)) {
      orphans.add(name);
    }
  }
  for (const [name, { state, since }] of known) {
    if (state === 'stored' && !present.has(name)) {
      missing.add(name);
    }
    if (state !== 'stored' && Date.parse(since) < now - sweepMinutes * 60_000) {
      loose.add(name);
    }
  }
  return [...missing.found(), ...orphans.found(), ...loose.found()];
}
