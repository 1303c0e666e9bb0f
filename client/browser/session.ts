/** The login of a customer in a page. */
import type { StorageEntry } from './storage.ts';

export interface StoredSession {
  readonly username: string;
  readonly token: string;
  readonly expiresAt: string;
}

export class Session {
  readonly #entry: StorageEntry<StoredSession>;

  constructor(entry: StorageEntry<StoredSession>) {
    this.#entry = entry;
  }

  get username(): string | null {
    return this.#read()?.username ?? null;
  }

  begin(session: StoredSession): void {
    this.#entry.write(session);
  }

  end(): void {
    this.#entry.remove();
  }

  /** The token of requests. One that the server refused has ended, so the login ends here too. */
  token(refused: string | undefined): string | undefined {
    if (refused !== undefined && refused === this.#entry.read()?.token) {
      this.end();
    }
    return this.#read()?.token;
  }

  #read(): StoredSession | null {
    const stored = this.#entry.read();
    return stored !== null && Date.parse(stored.expiresAt) > Date.now() ? stored : null;
  }
}
