/** Passwords that customers set, at registration and when they replace their profile. */
import { isCommonPassword } from '../../auth/common-passwords.ts';
import type { Passwords } from '../../auth/passwords.ts';
import type { Context } from '../../database/context.ts';
import { type FieldError, requireNoErrors } from '../../errors.ts';

export type NewPasswords = ReturnType<typeof createNewPasswords>;

/** @param allowsCommon whether the most common passwords are permitted */
export function createNewPasswords(passwords: Passwords, allowsCommon: boolean) {
  async function errorsOf(password: string): Promise<FieldError[]> {
    const isRefused = !allowsCommon && (await isCommonPassword(password));
    return isRefused ? [{ field: 'password', message: commonPasswordMessage }] : [];
  }

  async function hash({ origin }: Context, password: string): Promise<string> {
    const errors = await errorsOf(password);
    requireNoErrors(errors);
    return origin.effects === null ? passwords.hash(password) : hashOfDryRun;
  }

  return {
    /** Empty when the password may be used. */
    errorsOf,
    /** A dry run returns a fixed text. @throws AppError validation, unavailable */
    hash,
    /** Hashes passwords that were checked with `errorsOf`. @throws AppError unavailable */
    hashAll: async ({ origin }: Context, checked: readonly string[]): Promise<string[]> =>
      origin.effects === null ? passwords.hashAll(checked) : checked.map(() => hashOfDryRun),
    // A stored password stays valid when it became common later: only new passwords are checked.
    /** The stored hash when the password is unchanged, otherwise a new one. @throws AppError validation, unavailable */
    reuseOrHash: async (context: Context, stored: string, password: string): Promise<string> =>
      (await passwords.verify(stored, password)) ? stored : hash(context, password),
  };
}

const commonPasswordMessage =
  'is one of the most common passwords, which attackers try first: choose another, such as four unrelated words';

/** Its row is rolled back: hashing would only cost time. */
const hashOfDryRun = 'none';
