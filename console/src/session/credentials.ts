/** The tokens of the client of the API. They can be replaced: requests wait while a person signs in again. */

/** The tokens of one sign-in. */
export interface Tokens {
  /**
   * The current one.
   * @param refused a token that the API refused
   * @throws an error named SignInRequired when the sign-in has ended
   */
  readonly current: (refused?: string) => string | Promise<string>;
  /** Ends them at the server. */
  readonly end: () => PromiseLike<unknown>;
}

/** Compares the name, because the class of the client belongs to code that is loaded when it is needed. */
export const isSignInRequired = (error: unknown): boolean =>
  error instanceof Error && error.name === 'SignInRequired';

export function signInRequired(): Error {
  return Object.assign(new Error('The sign-in has ended.'), { name: 'SignInRequired' });
}

/** It says nothing about the session that begins afterwards. */
const sessionEnded = () => new DOMException('The session has ended.', 'AbortError');

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The tokens that a client uses, one sign-in after another. */
export class Credentials {
  /** Null while there are none. */
  #tokens: Tokens | null;
  #isClosed = false;
  #waiting: Waiting[] = [];
  readonly #mayWait: () => boolean;

  /** @param mayWait called when the tokens have ended: whether requests wait for other tokens */
  constructor(tokens: Tokens, mayWait: () => boolean) {
    this.#tokens = tokens;
    this.#mayWait = mayWait;
  }

  /** The token of a request. */
  readonly token = async (refused?: string): Promise<string> => {
    const tokens = this.#tokens;
    if (this.#isClosed) {
      throw sessionEnded();
    }
    try {
      if (tokens === null) {
        throw signInRequired();
      }
      return await tokens.current(refused);
    } catch (error) {
      if (!isSignInRequired(error)) {
        throw error;
      }
      if (this.#tokens === tokens) {
        if (!this.#mayWait()) {
          throw error;
        }
        this.#tokens = null;
        await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
      }
      return this.token(refused);
    }
  };

  /** Continues the requests that wait. */
  replace(tokens: Tokens): void {
    this.#tokens = tokens;
    for (const { resolve } of this.#waiting.splice(0)) {
      resolve();
    }
  }

  /** Later requests wait, as if the API had refused the tokens. */
  suspend(): void {
    this.#tokens = null;
  }

  /** Refuses the requests that wait, and all later ones: they must not be sent with the rights of another person. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) {
      reject(sessionEnded());
    }
  }

  /** Ends the tokens at the server, without waiting if they have ended by themselves. */
  async end(): Promise<void> {
    try {
      await this.#tokens?.end();
    } catch {
      // They have ended already, or the server is away: they end by themselves.
    }
  }
}
