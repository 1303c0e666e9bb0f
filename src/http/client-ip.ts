/** The client IP as limits count it, and the header by which a server states that of its visitor. */
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Principal } from '../access/principal.ts';
import { parameterError } from '../errors.ts';
import type { Parameters } from '../schema/schema.ts';

/** More than the longest IPv6 address with a zone. */
const statedLengthMax = 100;
/** The last 32 bits of such addresses are an IPv4 address: mapped (RFC 4291, 2.5.5.2), and translated (RFC 6052, 2.1). */
const ipv4Prefixes = ['0,0,0,0,0,65535', '100,65435,0,0,0,0'];

/**
 * The parameter of the OpenAPI document. The header is ignored without an API key, so no schema of a route validates
 * it.
 */
export const clientIpHeader = {
  'Curd-Client-IP': {
    type: 'string',
    maxLength: statedLengthMax,
    description:
      'The IP address of the visitor for whom a server sends the request: limits by client IP count this address. Only with an API key; ignored without one',
  },
} as const satisfies Parameters;

/**
 * The client IP that the header states, as limits count it; null without the header. Only the owner of an API key is
 * believed: anyone else could evade the limits by stating another address each time.
 * @throws AppError badRequest when it is not one IP address
 */
export function statedClientIp(
  { 'curd-client-ip': stated }: IncomingHttpHeaders,
  principals: readonly Principal[],
): string | null {
  if (stated === undefined || !principals.some(({ kind }) => kind === 'apiKey')) {
    return null;
  }
  // Node joins the values of repeated headers, which is no address.
  const text = String(stated);
  if (text.length > statedLengthMax || (!isIPv4(text) && !isIPv6(text))) {
    throw parameterError(
      'Curd-Client-IP',
      'must be one IPv4 or IPv6 address without a port, such as 203.0.113.7 or 2001:db8::7. Send the address of the visitor, or leave the header out.',
    );
  }
  return clientNetwork(text);
}

/**
 * The part of a client IP that identifies one subscriber of an access provider: the whole of IPv4, in one spelling, or
 * the first 64 bits of IPv6, because a subscriber can use all addresses below them (RFC 6177).
 */
export function clientNetwork(given: string): string {
  const text = given.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  if (isIPv4(text) || !isIPv6(text)) {
    return text;
  }
  const groups = groupsOf(text);
  const [seventh = 0, eighth = 0] = groups.slice(6);
  if (ipv4Prefixes.includes(groups.slice(0, 6).join())) {
    return [seventh >> 8, seventh & 0xff, eighth >> 8, eighth & 0xff].join('.');
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** Whether a client IP is in one of the networks in CIDR form. */
export function isInNetworks(given: string, networks: readonly string[]): boolean {
  const text = given.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  const family = isIPv4(text) ? 'ipv4' : isIPv6(text) ? 'ipv6' : null;
  return family !== null && listOf(networks).check(text, family);
}

const lists = new WeakMap<readonly string[], BlockList>();

/** The list of Node compares networks; that of a key is the same array for each request. */
function listOf(networks: readonly string[]): BlockList {
  let list = lists.get(networks);
  if (list === undefined) {
    list = new BlockList();
    for (const network of networks) {
      const [ip = '', bits] = network.split('/');
      const family = isIPv4(ip) ? 'ipv4' : 'ipv6';
      list.addSubnet(ip, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
    }
    lists.set(networks, list);
  }
  return list;
}

/** The eight numbers of an IPv6 address. Its zone is a name on one machine. */
function groupsOf(text: string): number[] {
  const [address = ''] = text.split('%', 1);
  const [head = '', tail] = address.split('::');
  const [before, after] = [groupsIn(head), groupsIn(tail ?? '')];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** The last 32 bits may be written like an IPv4 address. */
function groupsIn(text: string): number[] {
  return text === ''
    ? []
    : text.split(':').flatMap((group) => {
        const bytes = group.split('.').map(Number);
        const [first = 0, second = 0, third = 0, fourth = 0] = bytes;
        return bytes.length === 1
          ? [Number.parseInt(group, 16)]
          : [first * 256 + second, third * 256 + fourth];
      });
}
