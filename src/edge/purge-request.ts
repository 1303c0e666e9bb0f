/** Sends purges to a cache. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';

/** Caches limit the length of a header: 8 KiB in Varnish. */
const tagBytesMax = 4096;
const timeoutMs = 5000;
const pauseMsFirst = 100;
const pauseMsMax = 10_000;

/** How a cache is told to purge. */
export interface PurgeTarget {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The header that has the tags, separated by spaces. */
  readonly tagHeader: string;
}

/** Purges tags, in as many requests as they need. Tries again until the cache accepts, or `signal` aborts. */
export async function purgeTags(
  target: PurgeTarget,
  tags: Iterable<string>,
  log: Pick<Log, 'warn' | 'info'>,
  signal: AbortSignal,
): Promise<void> {
  for (const list of listsOf(tags)) {
    let failedAt: number | null = null;
    for (let pauseMs = pauseMsFirst; !signal.aborted; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      const failure = await sendPurge(target, list, signal);
      if (failure === null) {
        if (failedAt !== null) {
          log.info(
            { url: target.url, ms: Math.round(performance.now() - failedAt) },
            'the cache accepts purges again',
          );
        }
        break;
      }
      if (failedAt === null || pauseMs === pauseMsMax) {
        log.warn({ url: target.url, reason: failure }, 'the cache did not accept a purge; it is sent again');
      }
      failedAt ??= performance.now();
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Returns why the cache did not accept it; null if it did. */
async function sendPurge(
  { url, method, headers, tagHeader }: PurgeTarget,
  tags: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, [tagHeader]: tags },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return response.ok ? null : `it returned ${response.status}`;
  } catch (error) {
    const { cause, message } = error as Error;
    return cause instanceof Error && cause.message !== '' ? cause.message : message;
  }
}

/** Tags joined by spaces, in lists that fit into a header. */
function* listsOf(tags: Iterable<string>): Generator<string> {
  let list = '';
  for (const tag of tags) {
    if (list.length + 1 + tag.length > tagBytesMax) {
      yield list;
      list = '';
    }
    list += list === '' ? tag : ` ${tag}`;
  }
  if (list !== '') {
    yield list;
  }
}
