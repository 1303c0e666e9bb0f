/** Statements on customers, and on their failed logins. */
import type { Person } from '../auth/oauth/people.ts';
import { queriesOn } from '../database/database.ts';
import { forShare, forUpdate, list, rows, sql } from '../database/sql.ts';
import type { Tier } from './tiers.ts';

/** What a customer can change of a row. */
export interface Profile {
  readonly username: string;
  /** As uniqueness compares it, like the one of the e-mail address. */
  readonly username_key: string;
  readonly email: string;
  readonly email_key: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly phone: string | null;
  /** PHC string. */
  readonly password: string;
  /** At most one of the two. */
  readonly favourite_id: number | null;
  readonly favourite_name: string | null;
}

export interface CustomerRow extends Profile {
  readonly id: number;
  readonly tier: Tier;
  readonly delivered_cents: number;
  readonly version: number;
  readonly created_at: string;
}

export interface NewFailure {
  readonly id: string;
  readonly endsAt: string;
}

export interface FailureRow {
  readonly id: string;
  readonly failures: number;
  readonly ends_at: string;
}

const columns = sql`id, username, username_key, email, email_key, first_name, last_name, phone, password, tier,
  delivered_cents, favourite_id, favourite_name, version, created_at`;

export const customerQueries = queriesOn((tx) => ({
  /** Undefined where username or e-mail address belong to somebody already. */
  insert: (profile: Profile, tier: Tier, createdAt: string) =>
    tx.get<CustomerRow>(sql`
      insert into customer (username, username_key, email, email_key, first_name, last_name, phone, password,
        favourite_id, favourite_name, tier, created_at)
      values (${profile.username}, ${profile.username_key}, ${profile.email}, ${profile.email_key},
        ${profile.first_name}, ${profile.last_name}, ${profile.phone}, ${profile.password},
        ${profile.favourite_id}, ${profile.favourite_name}, ${tier}, ${createdAt})
      on conflict do nothing
      returning ${columns}`),

  /** Who has one of the two already. */
  listTaken: (usernameKey: string, emailKey: string) =>
    tx.all<Pick<CustomerRow, 'id' | 'username_key' | 'email_key'>>(sql`
      select id, username_key, email_key from customer where username_key = ${usernameKey}
      union select id, username_key, email_key from customer where email_key = ${emailKey}`),

  findByUsername: (usernameKey: string) =>
    tx.get<CustomerRow>(sql`select ${columns} from customer where username_key = ${usernameKey}`),

  /** Locked, as it is about to change. */
  claim: (id: number) =>
    tx.get<CustomerRow>(sql`select ${columns} from customer where id = ${id}${forUpdate}`),

  findPerson: (id: number) => tx.get<Person>(sql`select username, role from customer where id = ${id}`),

  /** Keeps the customer from being deleted before the transaction ends. */
  hold: (id: number) => tx.get<{ id: number }>(sql`select id from customer where id = ${id}${forShare}`),

  update: (id: number, profile: Profile) =>
    tx.get<CustomerRow>(sql`
      update customer set username = ${profile.username}, username_key = ${profile.username_key},
        email = ${profile.email}, email_key = ${profile.email_key}, first_name = ${profile.first_name},
        last_name = ${profile.last_name}, phone = ${profile.phone}, password = ${profile.password},
        favourite_id = ${profile.favourite_id}, favourite_name = ${profile.favourite_name}, version = version + 1
      where id = ${id} returning ${columns}`),

  updatePassword: (id: number, password: string) =>
    tx.run(sql`update customer set password = ${password} where id = ${id}`),

  updateRole: (id: number, role: string) =>
    tx.run(sql`update customer set role = ${role} where id = ${id} and role <> ${role}`),

  /** Adds to what was delivered to a customer. */
  updateDelivered: (id: number, cents: number) =>
    tx.get<CustomerRow>(sql`
      update customer set delivered_cents = delivered_cents + ${cents} where id = ${id} returning ${columns}`),

  updateTier: (id: number, tier: Tier) =>
    tx.run(sql`update customer set tier = ${tier}, version = version + 1 where id = ${id}`),

  /** What was a reference to a cheese becomes its name. */
  updateFavourite: (cheeseId: number, name: string) =>
    tx.run(sql`
      update customer set favourite_id = null, favourite_name = ${name}, version = version + 1
      where favourite_id = ${cheeseId}`),

  delete: (id: number) => tx.run(sql`delete from customer where id = ${id}`),

  /** Counts one more failure under each, in their order, from 1 where the earlier ones are over. */
  insertFailures: (failures: readonly NewFailure[], now: string) =>
    tx.all<FailureRow>(sql`
      insert into login_failure (id, failures, ends_at)
      select value->>0, 1, value->>1 from ${rows(failures.map(({ id, endsAt }) => [id, endsAt]))} where true
      on conflict (id) do update set
        failures = case when login_failure.ends_at <= ${now} then 1 else login_failure.failures + 1 end,
        ends_at = case when login_failure.ends_at <= ${now} then excluded.ends_at else login_failure.ends_at end
      returning id, failures, ends_at`),

  deleteFailures: (id: string) => tx.run(sql`delete from login_failure where id = ${id}`),

  /** One less for each. */
  takeBackFailures: (ids: readonly string[]) =>
    tx.run(sql`
      update login_failure set failures = failures - 1 where id in (${list(ids)}) and failures > 0`),

  deletePastFailures: (now: string) => tx.run(sql`delete from login_failure where ends_at <= ${now}`),
}));
