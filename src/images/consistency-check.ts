/** Checks that each image has its files, and that each file belongs to an image. */

import { type Finding, Findings } from '../database/checks/findings.ts';
import type { Sql } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import type { Files } from '../files/files.ts';

/** Maintenance deletes unused files after ten minutes. Files that are still there after this time are a fault. */
const lateMinutes = 60;

/**
 * Images are added and deleted during the check, so each apparent fault is checked a second time.
 * @param now milliseconds since the epoch
 */
export async function checkImages(database: Sql, files: Files, now: number): Promise<Finding[]> {
  const missing = new Findings(
    'images with missing files',
    'restore the files from a backup, or upload the images again',
  );
  const orphans = new Findings(
    'files that belong to no image',
    'delete them, or keep them: no request returns them',
    true,
  );
  const unused = new Findings(
    `unused files that are not deleted after ${lateMinutes} minutes`,
    'run a server for some minutes, and check its log for failed maintenance',
  );
  // Files first, because rows are written before their files.
  const present = new Set<string>();
  for await (const name of files.list()) {
    present.add(name);
  }
  const known = new Set<string>();
  for (const { name, state, since } of await database.all<{ name: string; state: string; since: string }>(
    sql`select name, state, since from image_file`,
  )) {
    known.add(name);
    if (state === 'stored' && !present.has(name) && !(await hasFile(files, name))) {
      missing.add(name);
    }
    if (state !== 'stored' && Date.parse(since) < now - lateMinutes * 60_000) {
      unused.add(name);
    }
  }
  for (const name of present.difference(known)) {
    if (await hasFile(files, name)) {
      orphans.add(name);
    }
  }
  return [...missing.found(), ...orphans.found(), ...unused.found()];
}

async function hasFile(files: Files, name: string): Promise<boolean> {
  const content = await files.read(name, null);
  content?.destroy();
  return content !== null;
}
