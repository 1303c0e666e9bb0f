/**
 * Finds the IP addresses of webhook hosts without `dns.lookup`. That occupies a thread until the name servers have
 * responded, and two such threads serve the whole process: a host whose name server is dead would keep connections to
 * PostgreSQL and to the image storage from being opened. The requests here occupy no thread.
 */
import { Resolver } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Limit of a lookup, whatever number of name servers is tried. */
const lookupMs = 5000;
/** Limit of the first request to a name server. The second one may take twice as long: a packet can be lost. */
const serverMs = 1500;
const requestsOfServer = 2;
const hostsFile = '/etc/hosts';
const loopback = ['127.0.0.1', '::1'];
const notFoundCodes = ['ENOTFOUND', 'ENODATA'];
const silentCodes = ['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED'];

let hosts: {
  readonly modifiedMs: number;
  readonly addresses: ReadonlyMap<string, readonly string[]>;
} | null = null;
let testServers: readonly string[] | null = null;

/** Sets name servers for tests, as `127.0.0.1:5353`; null for those of the system. */
export function replaceNameServers(servers: readonly string[] | null): void {
  testServers = servers;
}

/**
 * All IP addresses of a host, IPv4 first: from /etc/hosts, else from the name servers of the system. Names below
 * `localhost` always are this machine. Search domains and multicast DNS are not used.
 * @throws Error whose message says why there is none
 */
export async function findAddresses(host: string): Promise<readonly string[]> {
  const name = host.replace(/\.$/, '').toLowerCase();
  const own = (await readHosts()).get(name);
  if (own !== undefined) {
    return own;
  }
  return name === 'localhost' || name.endsWith('.localhost') ? loopback : askNameServers(name);
}

async function askNameServers(name: string): Promise<string[]> {
  // A new one each time, because it reads the name servers of the system only once. That takes 0.04 ms.
  const resolver = new Resolver({ timeout: serverMs, tries: requestsOfServer });
  if (testServers !== null) {
    resolver.setServers(testServers);
  }
  const timer = setTimeout(() => resolver.cancel(), lookupMs);
  const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  clearTimeout(timer);
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (addresses.length > 0) {
    return addresses;
  }
  throw new Error(
    failureText(results.map((result) => (result.status === 'rejected' ? result.reason.code : ''))),
  );
}

/** @param codes of the requests for IPv4 and for IPv6 */
function failureText(codes: readonly string[]): string {
  const code = codes.find((candidate) => !notFoundCodes.includes(candidate));
  if (code === undefined) {
    return 'the host name was not found';
  }
  return `the host name could not be looked up: ${silentCodes.includes(code) ? 'no name server responded' : `the name server returned ${code}`}`;
}

/** Read again when the file has changed. */
async function readHosts(): Promise<ReadonlyMap<string, readonly string[]>> {
  try {
    const { mtimeMs } = await stat(hostsFile);
    if (hosts?.modifiedMs !== mtimeMs) {
      hosts = { modifiedMs: mtimeMs, addresses: parseHosts(await readFile(hostsFile, 'utf8')) };
    }
    return hosts.addresses;
  } catch {
    // Some systems have no such file, or do not let this user read it.
    return new Map();
  }
}

/** Lines such as `127.0.0.1 localhost local # a comment`. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    for (const name of isIP(address) === 0 ? [] : names) {
      const key = name.toLowerCase();
      addresses.set(key, [...(addresses.get(key) ?? []), address]);
    }
  }
  return addresses;
}
