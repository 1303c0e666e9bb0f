/** Converts between rows of customers and JSON. */
import type { Sql } from '../database/database.ts';
import { AppError, type FieldError } from '../errors.ts';
import { caseFold } from '../schema/case-fold.ts';
import { trimBlanks } from '../schema/text-rules.ts';
import type { Versioned } from '../versioned.ts';
import { type CustomerRow, customerQueries, type Profile } from './queries.ts';
import type { CustomerInput } from './schemas.ts';
import { usernameRule } from './schemas.ts';

/** Texts that cannot be usernames cause no query. */
export async function findByUsername(sql: Sql, username: string): Promise<CustomerRow | undefined> {
  return usernameRule.test(trimBlanks(username))
    ? customerQueries(sql).findByUsername(caseFold(username))
    : undefined;
}

/** @throws AppError notFound */
export async function requireByUsername(sql: Sql, username: string): Promise<CustomerRow> {
  const row = await findByUsername(sql, username);
  if (row === undefined) {
    throw customerNotFound();
  }
  return row;
}

export function customerNotFound(): AppError {
  return new AppError('notFound', 'There is no customer with this username.');
}

/** @param password the hash to store */
export function profileToStore(input: CustomerInput, password: string): Profile {
  const { favouriteCheese } = input;
  return {
    username: input.username,
    username_key: caseFold(input.username),
    email: input.email,
    email_key: caseFold(input.email),
    first_name: input.firstName ?? '',
    last_name: input.lastName ?? '',
    phone: input.phone ?? null,
    password,
    favourite_id: favouriteCheese?.id ?? null,
    favourite_name: favouriteCheese?.name ?? null,
  };
}

export function isUnchanged(row: CustomerRow, profile: Profile): boolean {
  return Object.entries(profile).every(([name, value]) => row[name as keyof Profile] === value);
}

/** A customer as JSON. The version changes with the favourite cheese as well. */
export function toCustomer(row: CustomerRow, favourite: Versioned | undefined): Versioned {
  const { id, username, email, phone, tier } = row;
  const json = JSON.stringify({
    id,
    username,
    firstName: row.first_name,
    lastName: row.last_name,
    email,
    phone,
    customerStatus: tier,
    ...(row.favourite_name === null ? {} : { favouriteCheese: { name: row.favourite_name } }),
    createdAt: row.created_at,
  });
  // The body of a cheese is stored as JSON: it is appended without parsing it.
  const body = favourite === undefined ? json : `${json.slice(0, -1)},"favouriteCheese":${favourite.body}}`;
  return { id, body, version: `${id}.${row.version}.${favourite?.version ?? 0}` };
}

/** The errors of a username and an e-mail address that belong to another customer. */
export async function takenFields(tx: Sql, profile: Profile, except: number | null): Promise<FieldError[]> {
  const taken = await customerQueries(tx).listTaken(profile.username_key, profile.email_key);
  const others = taken.filter(({ id }) => id !== except);
  const fields = [
    ...(others.some((other) => other.username_key === profile.username_key) ? ['username'] : []),
    ...(others.some((other) => other.email_key === profile.email_key) ? ['email'] : []),
  ];
  // Neither when the other customer was deleted meanwhile. Then a repeated request succeeds.
  return (fields.length > 0 ? fields : ['username']).map((field) => ({
    field,
    message: 'belongs to another customer',
  }));
}
