/** Statements on customers, their failed logins and their known networks. */
import type { CustomerSummary } from '../auth/oauth/customer-directory.ts';
import { queriesOn } from '../database/database.ts';
import { newId } from '../database/dry-run.ts';
import {
  advisoryLock,
  deleteSlice,
  forShare,
  forUpdate,
  rowsFromJson,
  selectTexts,
  sql,
  valueList,
} from '../database/sql.ts';
import { searchNames } from './search/search-names.ts';
import type { Tier } from './tiers.ts';

/** The columns that a customer can change. */
export interface Profile {
  readonly username: string;
  /** The case-folded username, which is unique. The key of the e-mail address is too. */
  readonly username_key: string;
  readonly email: string;
  readonly email_key: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly phone: string | null;
  /** Hash of the password as a PHC string. */
  readonly password: string;
  /** One of the two, or both, are null. */
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

/** A link for a new password. */
export interface PasswordResetRow {
  readonly customer_id: number;
  readonly token_hash: string;
  readonly expires_at: string;
}

/** One counter of failed logins. Times are '' when there is none. */
export interface FailureRow {
  readonly id: string;
  readonly failures: number;
  readonly ends_at: string;
  /** Attempts whose password is being checked. */
  readonly running: number;
  /** When attempts that ended without a result stop counting as running. */
  readonly running_until: string;
  /** When the next attempt may run, if attempts are slowed down. */
  readonly next_at: string;
}

/** The columns of `CustomerRow`. */
export const customerColumns = sql`id, username, username_key, email, email_key, first_name, last_name, phone, password,
  tier, delivered_cents, favourite_id, favourite_name, version, created_at`;

export const customerQueries = queriesOn((tx) => ({
  /** Other transactions that insert several customers, or change names, wait until this one ends. */
  lockNames: () => tx.get(advisoryLock('names of customers')),

  /** Undefined when the username or the e-mail address belongs to another customer. */
  insert: (profile: Profile, tier: Tier, createdAt: string) => {
    const { lastFirst, firstLast } = searchNames(profile);
    return tx.get<CustomerRow>(sql`
      insert into customer (id, username, username_key, email, email_key, first_name, last_name, phone, password,
        favourite_id, favourite_name, tier, created_at, last_first, first_last)
      values (${newId(tx)}, ${profile.username}, ${profile.username_key}, ${profile.email}, ${profile.email_key},
        ${profile.first_name}, ${profile.last_name}, ${profile.phone}, ${profile.password},
        ${profile.favourite_id}, ${profile.favourite_name}, ${tier}, ${createdAt}, ${lastFirst}, ${firstLast})
      on conflict do nothing
      returning ${customerColumns}`);
  },

  /** Customers with one of the two keys. */
  listTaken: (usernameKey: string, emailKey: string) =>
    tx.all<Pick<CustomerRow, 'id' | 'username_key' | 'email_key'>>(sql`
      select id, username_key, email_key from customer where username_key = ${usernameKey}
      union select id, username_key, email_key from customer where email_key = ${emailKey}`),

  findByUsername: (usernameKey: string) =>
    tx.get<CustomerRow>(sql`select ${customerColumns} from customer where username_key = ${usernameKey}`),

  find: (id: number) => tx.get<CustomerRow>(sql`select ${customerColumns} from customer where id = ${id}`),

  findByEmail: (emailKey: string) =>
    tx.get<{ id: number }>(sql`select id from customer where email_key = ${emailKey}`),

  listContacts: (ids: readonly number[]) =>
    tx.all<Pick<CustomerRow, 'id' | 'username' | 'email' | 'first_name' | 'last_name'>>(sql`
      select id, username, email, first_name, last_name from customer where id in (${valueList(ids)})`),

  listUsernames: (ids: readonly number[]) =>
    tx.all<{ id: number; name: string }>(sql`
      select id, username as name from customer where id in (${valueList(ids)})`),

  /** Locks the row exclusively, to change it. */
  lockForUpdate: (id: number) =>
    tx.get<CustomerRow>(sql`select ${customerColumns} from customer where id = ${id}${forUpdate}`),

  findSummary: (id: number) =>
    tx.get<CustomerSummary>(sql`select username, role from customer where id = ${id}`),

  /** Locks the customer: no other transaction changes or deletes it until this one ends. */
  lockForShare: (id: number) =>
    tx.get<{ id: number }>(sql`select id from customer where id = ${id}${forShare}`),

  update: (id: number, profile: Profile) => {
    const { lastFirst, firstLast } = searchNames(profile);
    return tx.get<CustomerRow>(sql`
      update customer set username = ${profile.username}, username_key = ${profile.username_key},
        email = ${profile.email}, email_key = ${profile.email_key}, first_name = ${profile.first_name},
        last_name = ${profile.last_name}, phone = ${profile.phone}, password = ${profile.password},
        favourite_id = ${profile.favourite_id}, favourite_name = ${profile.favourite_name}, version = version + 1,
        last_first = ${lastFirst}, first_last = ${firstLast}
      where id = ${id} returning ${customerColumns}`);
  },

  updatePassword: (id: number, password: string) =>
    tx.run(sql`update customer set password = ${password} where id = ${id}`),

  updateRole: (id: number, role: string) =>
    tx.run(sql`update customer set role = ${role} where id = ${id} and role <> ${role}`),

  /** Adds to the total of delivered orders. */
  updateDelivered: (id: number, cents: number) =>
    tx.get<CustomerRow>(sql`
      update customer set delivered_cents = delivered_cents + ${cents} where id = ${id} returning ${customerColumns}`),

  updateTier: (id: number, tier: Tier) =>
    tx.run(sql`update customer set tier = ${tier}, version = version + 1 where id = ${id}`),

  /** Replaces references to a cheese by its name. */
  updateFavourite: (cheeseId: number, name: string) =>
    tx.run(sql`
      update customer set favourite_id = null, favourite_name = ${name}, version = version + 1
      where id in (select id from customer where favourite_id = ${cheeseId} order by id${forUpdate})`),

  delete: (id: number) => tx.run(sql`delete from customer where id = ${id}`),

  /** Replaces an older link. */
  upsertReset: (row: PasswordResetRow & { created_at: string; created_by: string }) =>
    tx.run(sql`
      insert into password_reset (customer_id, token_hash, created_at, created_by, expires_at)
      values (${row.customer_id}, ${row.token_hash}, ${row.created_at}, ${row.created_by}, ${row.expires_at})
      on conflict (customer_id) do update set token_hash = excluded.token_hash, created_at = excluded.created_at,
        created_by = excluded.created_by, expires_at = excluded.expires_at`),

  findReset: (tokenHash: string) =>
    tx.get<PasswordResetRow>(
      sql`select customer_id, token_hash, expires_at from password_reset where token_hash = ${tokenHash}`,
    ),

  /** 0 when the link was used or replaced. */
  deleteReset: (tokenHash: string) => tx.run(sql`delete from password_reset where token_hash = ${tokenHash}`),

  deleteResetOf: (customerId: number) =>
    tx.run(sql`delete from password_reset where customer_id = ${customerId}`),

  deletePastResets: (now: string, limit: number) =>
    tx.run(deleteSlice('password_reset', 'customer_id', 'expires_at', sql`expires_at <= ${now}`, limit)),

  deleteFailures: (ids: readonly string[]) =>
    tx.run(sql`delete from login_failure where id in (${valueList(ids)})`),

  listFailures: (ids: readonly string[]) =>
    tx.all<FailureRow>(sql`
      select id, failures, ends_at, running, running_until, next_at from login_failure
      where id in (${selectTexts(ids)})`),

  upsertFailures: (failures: readonly FailureRow[]) =>
    tx.send(sql`
      insert into login_failure (id, failures, ends_at, running, running_until, next_at)
      select value->>'id', cast(value->>'failures' as bigint), value->>'ends_at', cast(value->>'running' as bigint),
        value->>'running_until', value->>'next_at'
      from ${rowsFromJson(failures.map((row) => ({ ...row })))}
      where true
      on conflict (id) do update set failures = excluded.failures, ends_at = excluded.ends_at,
        running = excluded.running, running_until = excluded.running_until, next_at = excluded.next_at`),

  /** @param latest rows that end after it were written while the clock was ahead */
  deletePastFailures: async (now: string, latest: string, limit: number) => {
    const past = sql`ends_at <= ${now}`;
    const ahead = sql`ends_at > ${latest}`;
    const deleted = await tx.run(deleteSlice('login_failure', 'id', 'ends_at', past, limit));
    return deleted + (await tx.run(deleteSlice('login_failure', 'id', 'ends_at', ahead, limit)));
  },

  findNetwork: (customerId: number, network: string, since: string) =>
    tx.get<{ network: string }>(sql`
      select network from login_network
      where customer_id = ${customerId} and network = ${network} and seen_at > ${since}`),

  upsertNetwork: (customerId: number, network: string, seenAt: string) =>
    tx.send(sql`
      insert into login_network (customer_id, network, seen_at) values (${customerId}, ${network}, ${seenAt})
      on conflict (customer_id, network) do update set seen_at = excluded.seen_at`),

  /** Deletes all but the `kept` newest. */
  deleteOldestNetworks: (customerId: number, kept: number) =>
    tx.send(sql`
      delete from login_network where customer_id = ${customerId} and network in (
        select network from login_network where customer_id = ${customerId}
        order by seen_at desc, network limit 1000 offset ${kept})`),

  deleteNetworks: (customerId: number) =>
    tx.run(sql`delete from login_network where customer_id = ${customerId}`),

  /** Skips rows that a login has locked. */
  deletePastNetworks: (oldest: string, limit: number) =>
    tx.run(deleteSlice('login_network', 'customer_id, network', 'seen_at', sql`seen_at <= ${oldest}`, limit)),
}));
