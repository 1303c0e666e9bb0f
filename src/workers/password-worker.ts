/** Works passwords out in a process of its own. */
import { hashSync, type Options, verifySync } from '@node-rs/argon2';
import { serveTasks } from './process.ts';

/** To be hashed, or held against a PHC string. */
export interface PasswordTask {
  readonly password: string;
  readonly stored: string | null;
  readonly cost: Options;
}

serveTasks(({ password, stored, cost }: PasswordTask) =>
  stored === null ? hashSync(password, cost) : verifySync(stored, password),
);
