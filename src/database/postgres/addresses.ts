/**
 * The IP addresses of database servers. The operating system resolves names for all of a process in a few threads, so
 * other names with a dead name server can delay a look-up by minutes. Then a new connection uses the last addresses.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A look-up that takes longer continues, and its result is for the next connection. */
const patienceMs = 250;

/** Keys are the names in CURD_DATABASE. */
const lastAddresses = new Map<string, LookupAddress[]>();
const running = new Map<string, Promise<LookupAddress[]>>();

/** The lookup that `connect` of a socket calls. */
export const lookupServer: LookupFunction = (name, { all }, callback) => {
  findAddresses(name).then(
    (addresses) => {
      const [first] = addresses;
      if (all) {
        callback(null, addresses);
      } else {
        callback(null, first?.address ?? '', first?.family);
      }
    },
    (error) => callback(error, []),
  );
};

/** Looks a name up for the first connection to it. */
export function prepareLookup(name: string | undefined): void {
  if (name !== undefined && isIP(name) === 0 && !name.startsWith('/')) {
    resolveName(name).catch(() => {});
  }
}

async function findAddresses(name: string): Promise<LookupAddress[]> {
  const last = lastAddresses.get(name);
  const resolving = resolveName(name);
  if (last === undefined) {
    return resolving;
  }
  // A name server that cannot be reached says nothing about the database.
  return Promise.race([resolving.catch(() => last), sleep(patienceMs, last, { ref: false })]);
}

/** One look-up of a name at a time. */
function resolveName(name: string): Promise<LookupAddress[]> {
  let resolving = running.get(name);
  if (resolving === undefined) {
    resolving = lookup(name, { all: true })
      .then((addresses) => {
        lastAddresses.set(name, addresses);
        return addresses;
      })
      .finally(() => running.delete(name));
    running.set(name, resolving);
  }
  return resolving;
}
