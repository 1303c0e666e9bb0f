/** Passwords that customers set: at registration, and with a change of their profile. */
import { isCommonPassword } from '../auth/common-passwords.ts';
import type { Passwords } from '../auth/passwords.ts';
import { type FieldError, validationError } from '../errors.ts';

export interface NewPasswords {
  /** Why a new password is refused; empty where it is not. */
  errorsOf(password: string): Promise<FieldError[]>;
  /** @throws AppError validation, unavailable */
  hash(password: string): Promise<string>;
  /** The hashes of passwords without errors. @throws AppError unavailable */
  hashAll(passwords: readonly string[]): Promise<string[]>;
  /** The stored hash where the password is still the same, else a new one. @throws AppError validation, unavailable */
  keepOrHash(stored: string, password: string): Promise<string>;
}

/** @param allowsCommon whether a password may be one of the most common */
export function createNewPasswords(passwords: Passwords, allowsCommon: boolean): NewPasswords {
  async function errorsOf(password: string): Promise<FieldError[]> {
    const isRefused = !allowsCommon && (await isCommonPassword(password));
    return isRefused ? [{ field: 'password', message: commonPasswordMessage }] : [];
  }

  async function hash(password: string): Promise<string> {
    const errors = await errorsOf(password);
    if (errors.length > 0) {
      throw validationError(errors);
    }
    return passwords.hash(password);
  }

  return {
    errorsOf,
    hash,
    hashAll: (given) => passwords.hashAll(given),
    // A common password from before stays good: only a new one is refused.
    keepOrHash: async (stored, password) =>
      (await passwords.verify(stored, password)) ? stored : hash(password),
  };
}

const commonPasswordMessage =
  'is one of the most common passwords, which attackers try first: choose another, such as four unrelated words';
