/** Whether pictures have their files, and files their pictures. */
import type { Sql } from '../database/database.ts';
import { type Finding, Findings } from '../database/findings.ts';
import { sql } from '../database/sql.ts';
import type { Files } from '../files/files.ts';

/** A sweep that has not happened by then is not just late. */
const lateMinutes = 60;

/**
 * Pictures come and go meanwhile: what seems to be wrong is looked at once more.
 * @param now milliseconds since the epoch
 */
export async function checkImages(database: Sql, files: Files, now: number): Promise<Finding[]> {
  const missing = new Findings(
    'pictures whose files are gone',
    'bring the files back from a backup, or upload the pictures again',
  );
  const orphans = new Findings(
    'files that belong to no picture',
    'delete them, or leave them: nobody sees them',
    true,
  );
  const loose = new Findings(
    `files that should have been swept more than ${lateMinutes} minutes ago`,
    'let a server run for some minutes, and see in its log whether sweeping fails',
  );
  // Files first: a row is there before its bytes are.
  const present = new Set<string>();
  for await (const name of files.list()) {
    present.add(name);
  }
  const known = new Set<string>();
  for (const { name, state, since } of await database.all<{ name: string; state: string; since: string }>(
    sql`select name, state, since from image_file`,
  )) {
    known.add(name);
    if (state === 'stored' && !present.has(name) && !(await isThere(files, name))) {
      missing.add(name);
    }
    if (state !== 'stored' && Date.parse(since) < now - lateMinutes * 60_000) {
      loose.add(name);
    }
  }
  for (const name of present.difference(known)) {
    if (await isThere(files, name)) {
      orphans.add(name);
    }
  }
  return [...missing.found(), ...orphans.found(), ...loose.found()];
}

async function isThere(files: Files, name: string): Promise<boolean> {
  const content = await files.read(name, null);
  content?.destroy();
  return content !== null;
}
