/**
 * Web pages that use a key which is no publishable one. Everybody who opens such a page can copy the key, so operators are
 * warned: in the log once a day for each key, by the instance that stores it first, and in the console with the key.
 */
import { type Clock, timestamp } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import type { Log } from '../../log.ts';
import { isOrigin } from './kinds.ts';
import { keyQueries } from './queries.ts';

const dayMs = 24 * 60 * 60_000;

export type WebOrigins = ReturnType<typeof createWebOrigins>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** A page used a key for the first time since the start. */
  readonly onNew: () => void;
}

export function createWebOrigins({ database, clock, log, onNew }: Dependencies) {
  const known = new Set<number>();
  let noted = new Map<number, string>();

  return {
    /** @param origin the header of a request with the key: only browsers send it by themselves */
    note(keyId: number, origin: string) {
      // A page without an origin of its own, such as a file, sends "null".
      if (!noted.has(keyId) && isOrigin(origin)) {
        noted.set(keyId, origin);
        if (!known.has(keyId)) {
          known.add(keyId);
          onNew();
        }
      }
    },

    /** Stores and logs what was noted. Runs on a timer, so that no request waits for a write. */
    async flush() {
      if (noted.size === 0) {
        return;
      }
      const seen = noted;
      noted = new Map();
      const rows = [...seen].map(([id, origin]) => ({ id, origin }));
      const now = clock.now();
      try {
        const stored = await database.transaction((tx) =>
          keyQueries(tx).updateWebOrigins(rows, timestamp(now), timestamp(now - dayMs)),
        );
        for (const { id, web_origin } of stored) {
          log.warn(
            { principal: `key:${id}`, origin: web_origin },
            `this key is used from a web page: ${web_origin}; rotate it`,
          );
        }
      } catch (error) {
        noted = new Map([...noted, ...seen]);
        throw error;
      }
    },
  };
}
