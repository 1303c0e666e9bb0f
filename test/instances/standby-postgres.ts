/**
 * A streaming standby of an `ownPostgres`, made with the low-level backup interface of PostgreSQL, because the npm package
 * has no pg_basebackup.
 */
import { execFileSync } from 'node:child_process';
import { appendFile, chmod, chown, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Scope, temporaryFolder, until } from '../context.ts';
import { freePort } from '../global-setup.ts';
import { onConnection } from '../postgres-client.ts';
import { type OwnPostgres, serverIn } from './own-postgres.ts';

/** The name by which a primary knows it, for synchronous_standby_names. */
export const standbyName = 'standby';

/** Makes a standby and waits until it streams. @param port of a server that has stopped, to replace it */
export async function standbyOf(t: Scope, primary: OwnPostgres, port?: number): Promise<OwnPostgres> {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755);
  const data = join(folder, 'data');
  await copyRunning(primary, data);
  const conninfo = `host=127.0.0.1 port=${primary.port} user=postgres password=postgres application_name=${standbyName}`;
  await appendFile(join(data, 'postgresql.auto.conf'), `\nprimary_conninfo = '${conninfo}'\n`);
  await writeAs(data, 'standby.signal', '');
  const standby = await serverIn(t, data, port ?? (await freePort()));
  await standby.start();
  const streams = `select 1 from pg_stat_replication where application_name = '${standbyName}' and state = 'streaming'`;
  await until(async () => (await primary.ask(streams)).length === 1, 'the standby does not stream');
  return standby;
}

/** A copy of the files of a running server, from which a standby can start. */
async function copyRunning({ superuserUrl, data: source }: OwnPostgres, target: string): Promise<void> {
  // Start and stop of a backup belong to one session.
  await onConnection(superuserUrl, async (query) => {
    await query(`select pg_backup_start('standby', true)`);
    execFileSync('cp', ['-R', '-p', source, target]);
    for (const name of ['postmaster.pid', 'postmaster.opts', 'standby.signal']) {
      await rm(join(target, name), { force: true });
    }
    for (const entry of await readdir(join(target, 'pg_wal'), { withFileTypes: true })) {
      if (entry.isFile()) {
        await rm(join(target, 'pg_wal', entry.name));
      }
    }
    const [stopped] = await query('select labelfile from pg_backup_stop(false)');
    await writeAs(target, 'backup_label', stopped?.labelfile);
  });
}

/** PostgreSQL reads and deletes these files, so they belong to its user. */
async function writeAs(folder: string, name: string, text: string): Promise<void> {
  const { uid, gid } = await stat(folder);
  await writeFile(join(folder, name), text, { mode: 0o600 });
  await chown(join(folder, name), uid, gid);
}
