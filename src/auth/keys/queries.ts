/** Statements on accounts and their API keys. */
import type { KeyKind } from '../../access/key-limits.ts';
import { queriesOn } from '../../database/database.ts';
import { newId } from '../../database/dry-run.ts';
import { forUpdate, rowsFromJson, type Statement, selectTexts, sql, valueList } from '../../database/sql.ts';
import type { KeyType } from './format.ts';

export interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly plan: string;
}

export interface AccountDetailsRow extends AccountRow {
  readonly created_at: string;
  readonly active_keys: number;
}

export interface KeyRow {
  readonly id: number;
  readonly account_id: number;
  readonly kind: KeyKind;
  /** What an operator calls the key. */
  readonly name: string | null;
  readonly type: KeyType;
  readonly last4: string;
  /** Separated by spaces, as OAuth writes them. */
  readonly scopes: string;
  /** JSON of `KeyLimits`. */
  readonly limits: string;
  /** The key itself, if it is no secret. */
  readonly shown_key: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  /** The web page that used the key, and when; null for one that no page used. */
  readonly web_origin: string | null;
  readonly web_origin_at: string | null;
  readonly replaced_by: number | null;
  /** The first of the restricted keys that replaced each other; null for the first, and for other kinds. */
  readonly first_id: number | null;
}

/** Columns that a new key has not. */
type WrittenLater = Pick<KeyRow, 'id' | 'last_used_at' | 'web_origin' | 'web_origin_at' | 'replaced_by'>;

/** The columns that authentication of a request needs. */
export interface CredentialRow {
  readonly id: number;
  readonly hash: string;
  readonly account_id: number;
  readonly plan: string;
  readonly kind: KeyKind;
  readonly first_id: number | null;
  readonly limits: string;
  readonly scopes: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

const credential = sql`
  select k.id, k.hash, k.account_id, a.plan, k.kind, k.first_id, k.limits, k.scopes, k.expires_at, k.revoked_at
  from api_key k join account a on a.id = k.account_id`;

export const credentialByHash = {
  one: (hash: string): Statement => sql`${credential} where k.hash = ${hash}`,
  many: (hashes: readonly string[]): Statement => sql`${credential} where k.hash in (${selectTexts(hashes)})`,
  keyOf: (row: CredentialRow): string => row.hash,
};

const keyColumns = sql`id, account_id, kind, name, type, last4, scopes, limits, shown_key, created_at, expires_at,
  last_used_at, web_origin, web_origin_at, replaced_by, first_id`;

const isActive = (now: string) => sql`revoked_at is null and (expires_at is null or expires_at > ${now})`;

const accountDetails = (now: string) => sql`
  select id, name, plan, created_at,
    (select count(*) from api_key where account_id = account.id and ${isActive(now)}) as active_keys
  from account`;

export const keyQueries = queriesOn((tx) => ({
  insertAccount: (account: { name: string; plan: string; createdAt: string }) =>
    tx.get<AccountRow>(sql`
      insert into account (id, name, plan, created_at)
      values (${newId(tx)}, ${account.name}, ${account.plan}, ${account.createdAt})
      returning id, name, plan`),

  findAccount: (name: string) =>
    tx.get<AccountRow>(sql`select id, name, plan from account where name = ${name}`),

  findAccountById: (id: number) =>
    tx.get<AccountRow>(sql`select id, name, plan from account where id = ${id}`),

  listAccounts: () => tx.all<AccountRow>(sql`select id, name, plan from account order by id`),

  listAccountDetails: (now: string) => tx.all<AccountDetailsRow>(sql`${accountDetails(now)} order by id`),

  findAccountDetails: (id: number, now: string) =>
    tx.get<AccountDetailsRow>(sql`${accountDetails(now)} where id = ${id}`),

  updatePlan: (id: number, plan: string) =>
    tx.run(sql`update account set plan = ${plan} where id = ${id} and plan <> ${plan}`),

  /** Locks the account: no other transaction changes its keys until this one ends. */
  lockAccount: (id: number) =>
    tx.get<{ name: string }>(sql`select name from account where id = ${id}${forUpdate}`),

  countActive: async (accountId: number, kind: KeyKind, now: string) => {
    const row = await tx.get<{ active: number }>(sql`
      select count(*) as active from api_key
      where account_id = ${accountId} and kind = ${kind} and ${isActive(now)}`);
    return row?.active ?? 0;
  },

  countLive: async (now: string) => {
    const row = await tx.get<{ live: number }>(
      sql`select count(*) as live from api_key where type = 'live' and ${isActive(now)}`,
    );
    return row?.live ?? 0;
  },

  insert: (key: Omit<KeyRow, keyof WrittenLater> & { hash: string }) =>
    tx.get<KeyRow>(sql`
      insert into api_key (account_id, kind, name, type, hash, last4, scopes, limits, shown_key, created_at,
        expires_at, first_id)
      values (${key.account_id}, ${key.kind}, ${key.name}, ${key.type}, ${key.hash}, ${key.last4}, ${key.scopes},
        ${key.limits}, ${key.shown_key}, ${key.created_at}, ${key.expires_at},
        ${key.first_id})
      returning ${keyColumns}`),

  listActive: (accountId: number, now: string) =>
    tx.all<KeyRow>(sql`
      select ${keyColumns} from api_key where account_id = ${accountId} and ${isActive(now)} order by id`),

  /** Revoked keys, too. */
  listNames: (ids: readonly number[]) =>
    tx.all<{ id: number; name: string }>(sql`
      select k.id, coalesce(k.name, a.name || ' …' || k.last4) as name
      from api_key k join account a on a.id = k.account_id where k.id in (${valueList(ids)})`),

  find: (id: number) => tx.get<KeyRow>(sql`select ${keyColumns} from api_key where id = ${id}`),

  findActive: (id: number, now: string) =>
    tx.get<KeyRow>(sql`select ${keyColumns} from api_key where id = ${id} and ${isActive(now)}`),

  /** Ends a key at once, regardless of the clocks of other instances. */
  updateRevoked: (id: number, now: string) =>
    tx.run(sql`update api_key set revoked_at = ${now} where id = ${id} and revoked_at is null`),

  /** Moves the end of a key to `at`, if that is earlier. */
  updateExpiry: (id: number, at: string) =>
    tx.run(
      sql`update api_key set expires_at = ${at} where id = ${id} and (expires_at is null or expires_at > ${at})`,
    ),

  updateName: (id: number, name: string | null) =>
    tx.get<KeyRow>(sql`update api_key set name = ${name} where id = ${id} returning ${keyColumns}`),

  updateReplacedBy: (id: number, successorId: number) =>
    tx.run(sql`update api_key set replaced_by = ${successorId} where id = ${id}`),

  updateLastUsed: (used: readonly { readonly id: number; readonly at: string }[]) =>
    // Locked in the order of ids, so that instances that write at the same time do not deadlock.
    tx.run(sql`
      update api_key set last_used_at = used.at
      from (
        select k.id, u.at
        from (select cast(value->>'id' as bigint) as id, value->>'at' as at from ${rowsFromJson(used)}) as u
          join api_key k on k.id = u.id
        where k.last_used_at is null or k.last_used_at < u.at order by k.id${forUpdate}
      ) as used
      where api_key.id = used.id`),

  /** Stores the pages of keys that have none stored after `before`, and returns these keys. Locks like the last use. */
  updateWebOrigins: (
    seen: readonly { readonly id: number; readonly origin: string }[],
    now: string,
    before: string,
  ) =>
    tx.all<{ id: number; web_origin: string }>(sql`
      update api_key set web_origin = seen.origin, web_origin_at = ${now}
      from (
        select k.id, s.origin
        from (select cast(value->>'id' as bigint) as id, value->>'origin' as origin from ${rowsFromJson(seen)}) as s
          join api_key k on k.id = s.id
        where k.web_origin_at is null or k.web_origin_at <= ${before} order by k.id${forUpdate}
      ) as seen
      where api_key.id = seen.id
      returning api_key.id, api_key.web_origin`),
}));
