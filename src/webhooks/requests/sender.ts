/**
 * Sends one webhook request. Targets come from operators of shops and lead anywhere, so the IP address is checked where
 * the connection is made: a name that resolves differently the second time gains nothing. Redirects are not followed.
 */
import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent as HttpAgent, request as httpRequest } from '../../http/node-http.ts';
import { findAddresses } from './host-lookup.ts';

/** `public`: https to public unicast addresses alone. `any`: everything, for local development. */
export type WebhookTargets = 'public' | 'any';

const usualTimeoutMs = 15_000;
/** A longer response is cut and judged by its status. */
const responseBytesMax = 64 * 1024;
const headerBytesMax = 16 * 1024;
/** Many servers close connections without requests after 5 s. A request on such a connection would be lost. */
const idleMs = 4000;
/** The part of the response that the delivery log keeps. */
const keptBytes = 1024;
const errorLengthMax = 200;
/** Azure's metadata service, an ordinary unicast address to libraries. */
const azureMetadata = '168.63.129.16';
const notPublic = 'the IP address is not public';

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SendResult {
  /** null if no response came. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Why the attempt failed; null for a response in time. */
  readonly error: string | null;
  /** The beginning of the response, as text without control characters. */
  readonly response: string;
  readonly retryAfterMs: number;
}

/** All public IPv6 addresses are in it. The rest has forms of IPv4 that libraries do not know, such as ::7f00:1. */
const globalIpv6 = ipaddr.parseCIDR('2000::/3');

/** Whether an IP address is public unicast, after forms of IPv4 in IPv6 are undone. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) {
    return false;
  }
  const parsed = ipaddr.process(address);
  const isGlobal = parsed.kind() === 'ipv4' || parsed.match(globalIpv6);
  return isGlobal && parsed.range() === 'unicast' && parsed.toString() !== azureMetadata;
}

/**
 * What is wrong with a target, before a request is made; null if nothing is. A host name is looked up when the
 * request is made.
 */
export function targetError(text: string, targets: WebhookTargets): string | null {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && (url?.protocol !== 'http:' || targets === 'public')) {
    return targets === 'public' ? 'must be an https URL' : 'must be an https or http URL';
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not contain a username or password';
  }
  const host = hostOf(url);
  return targets === 'public' && isIP(host) !== 0 && !isPublicAddress(host)
    ? `must lead to a public IP address: ${notPublic}`
    : null;
}

/**
 * What is wrong with a target and what to do, before it is stored; null if nothing is. The sender checks it again at
 * each connection.
 */
export async function findTargetError(url: string, targets: WebhookTargets): Promise<string | null> {
  return targetError(url, targets) ?? (targets === 'any' ? null : await hostError(new URL(url)));
}

async function hostError(url: URL): Promise<string | null> {
  const { hostname } = url;
  // targetError has checked literal IP addresses.
  if (isIP(hostOf(url)) !== 0) {
    return null;
  }
  const addresses = await findAddresses(hostname).catch(() => null);
  if (addresses === null) {
    return `names a host that cannot be resolved: ${hostname}. Check the name, or try again`;
  }
  return addresses.every(isPublicAddress)
    ? null
    : 'names a host in a private network. Use one with public IP addresses only; to permit private targets, an operator sets CURD_WEBHOOK_TARGETS=any';
}

/** A lookup of connections. With the targets `public` it refuses a name unless all of its IP addresses are public. */
function lookupFor(targets: WebhookTargets): LookupFunction {
  return (hostname, options, callback) => {
    findAddresses(hostname).then(
      (found) => {
        const addresses = found.map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (first === undefined || (targets === 'public' && !found.every(isPublicAddress))) {
          callback(new Error(notPublic), '', 4);
        } else if (options.all) {
          callback(null, addresses);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error) => callback(error, '', 4),
    );
  };
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

export type WebhookSender = ReturnType<typeof createWebhookSender>;

/** @param now milliseconds since the epoch, for dates in Retry-After */
export function createWebhookSender(targets: WebhookTargets, now: () => number) {
  const options = { keepAlive: true, timeout: idleMs, lookup: lookupFor(targets) };
  const httpAgent = new HttpAgent(options);
  const httpsAgent = new HttpsAgent(options);

  /** @throws Error if no complete response comes */
  function exchange(
    { url, headers, body }: WebhookRequest,
    signal: AbortSignal,
  ): Promise<Omit<SendResult, 'durationMs'>> {
    return new Promise((resolve, reject) => {
      const parsed = new URL(url);
      const isHttps = parsed.protocol === 'https:';
      const outgoing = (isHttps ? httpsRequest : httpRequest)(
        parsed,
        {
          method: 'POST',
          agent: isHttps ? httpsAgent : httpAgent,
          headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
          maxHeaderSize: headerBytesMax,
          signal,
        },
        (incoming) => {
          const retryAfterMs = parseRetryAfter(incoming.headers['retry-after'], now());
          readBeginning(incoming).then(
            (response) =>
              resolve({ status: incoming.statusCode ?? null, error: null, response, retryAfterMs }),
            reject,
          );
        },
      );
      // A response 101 would end the connection and never the promise if nothing listened.
      outgoing.on('upgrade', ({ statusCode = null }, socket) => {
        socket.destroy();
        resolve({ status: statusCode, error: null, response: '', retryAfterMs: 0 });
      });
      outgoing.on('error', reject);
      // The request ends even if the receiver does not react.
      signal.addEventListener('abort', () => reject(signal.reason));
      outgoing.end(body);
    });
  }

  /** Functions that shorten the requests that run. */
  const running = new Set<(timeoutMs: number) => void>();

  return {
    /** Never rejects: what goes wrong is the result. */
    async send(request: WebhookRequest, timeoutMs: number = usualTimeoutMs) {
      const startedAt = performance.now();
      const wrong = targetError(request.url, targets);
      const failed = (error: string) => ({ status: null, error, response: '', retryAfterMs: 0 });
      const timeout = new AbortController();
      let limit = `within ${timeoutMs / 1000} s`;
      let timer = setTimeout(() => timeout.abort(), timeoutMs);
      const shorten = (ms: number) => {
        if (performance.now() + ms < startedAt + timeoutMs) {
          clearTimeout(timer);
          limit = `within ${ms / 1000} s after the clock was moved`;
          timer = setTimeout(() => timeout.abort(), ms);
        }
      };
      running.add(shorten);
      const result =
        wrong === null
          ? await exchange(request, timeout.signal).catch((error) =>
              failed(timeout.signal.aborted ? `no complete response ${limit}` : errorText(error)),
            )
          : failed(`the URL ${wrong}`);
      clearTimeout(timer);
      running.delete(shorten);
      return { ...result, durationMs: Math.round(performance.now() - startedAt) };
    },
    /** Gives the requests that run now no more time than this. */
    shortenAll(timeoutMs: number) {
      for (const shorten of running) {
        shorten(timeoutMs);
      }
    },
    /** Closes connections. */
    close() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

const textOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before the response was complete',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
};

/** Some errors of connections have a code and no message. */
function errorText({ code = '', message }: NodeJS.ErrnoException): string {
  return (textOfCode[code] ?? (message || code)).slice(0, errorLengthMax);
}

/** Reads a response up to its bound and returns its first bytes as text. */
async function readBeginning(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    if (bytes < keptBytes) {
      chunks.push(chunk.subarray(0, keptBytes - bytes));
    }
    bytes += chunk.length;
    if (bytes > responseBytesMax) {
      break;
    }
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
}

/** Milliseconds of a Retry-After header, a number of seconds or a date; 0 if it is absent or malformed. */
export function parseRetryAfter(header: string | undefined, now: number): number {
  if (header === undefined) {
    return 0;
  }
  const text = header.trim();
  const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : 0;
}
