/** The client IP as limits count it. */
import { isIPv4, isIPv6 } from 'node:net';

/**
 * The part of a client IP that identifies one subscriber of an access provider: the whole of IPv4, in one spelling, or
 * the first 64 bits of IPv6, because a subscriber can use all addresses below them (RFC 6177).
 */
export function clientNetwork(given: string): string {
  const text = given.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  if (mapped !== undefined || isIPv4(text) || !isIPv6(text)) {
    return mapped ?? text;
  }
  const [head = '', tail] = text.toLowerCase().split('%', 1).join('').split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  const all = [...groups, ...Array<string>(missing).fill('0'), ...(tail ?? '').split(':')];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':')}::/64`;
}
