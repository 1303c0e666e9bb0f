/** The child process that hashes and verifies passwords. */
import { hashSync, type Options, verifySync } from '@node-rs/argon2';
import { serveTasks } from './child.ts';

/** A password to hash, or to verify against the PHC string `stored`. */
export interface PasswordTask {
  readonly password: string;
  readonly stored: string | null;
  readonly cost: Options;
}

serveTasks(({ password, stored, cost }: PasswordTask) =>
  stored === null ? hashSync(password, cost) : verifySync(stored, password),
);
