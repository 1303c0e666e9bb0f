/** The schema of a version after this one, as far as this version may have to work with it. */
import type { Database } from '../../src/database/database.ts';
import { listMigrations, type Migration, migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Engine } from '../../src/database/sql.ts';
import type { Config } from '../../src/settings/config.ts';

/** Every kind of change that a migration may make without being breaking. */
const changes = `
  alter table orders add column parcels integer not null default 0;
  alter table cheese add column milk text;
  alter table customer add column points bigint not null default 0 check (points >= 0);
  alter table background_job add column priority integer not null default 0;
  alter table event add column source text;
  drop index orders_to_ship;
  create index orders_to_ship on orders (ship_date, id, parcels) where status = 'approved';
  create table order_tally (status text primary key, orders bigint not null);
  insert into order_tally (status, orders) values ('all', 0);`;

const triggers: Readonly<Record<Engine, string>> = {
  sqlite: `
    create trigger order_tally_kept after insert on orders begin
      update order_tally set orders = orders + 1 where status = 'all';
    end;`,
  postgres: `
    create function keep_order_tally() returns trigger language plpgsql as $$ begin
      update order_tally set orders = orders + 1 where status = 'all';
      return null;
    end $$;
    create trigger order_tally_kept after insert on orders for each row execute function keep_order_tally();`,
};

/** The migrations of this version and one more. */
export function futureMigrations(engine: Engine): Migration[] {
  return [
    ...listMigrations(engine),
    { number: 9999, name: 'of-the-future', script: `${changes}\n${triggers[engine]}` },
  ];
}

/** Migrates a database as a version after this one would. @returns the names of the applied migrations */
export async function migrateToFuture(place: Pick<Config, 'database'>): Promise<string[]> {
  const database: Database = await openDatabase(place);
  return migrate(database, futureMigrations(database.engine)).finally(database.close);
}
