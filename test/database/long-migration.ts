/** A process that migrates a database, given as JSON, and is killed in the middle of a long statement. */

import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Engine } from '../../src/database/sql.ts';
import { futureMigrations } from '../upgrade/newer-schema.ts';

/** PostgreSQL notices after a statement that the process is gone, so this one ends soon. */
const long: Readonly<Record<Engine, string>> = {
  sqlite: 'with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n',
  postgres: 'select pg_sleep(2)',
};

const database = await openDatabase({ database: JSON.parse(process.argv[2] ?? '') });
const script = `create table half (i bigint); ${long[database.engine]};`;
await migrate(database, [...futureMigrations(database.engine), { number: 10_000, name: 'long', script }]);
