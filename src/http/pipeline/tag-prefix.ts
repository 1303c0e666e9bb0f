/**
 * A prefix of all ETags, which changes when the database goes back to an earlier state: no client then takes an ETag of
 * before for one of the present. Handlers and services do not see it.
 */
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import type { Exchange } from '../exchange.ts';

const conditions = ['if-match', 'if-none-match', 'if-range'] as const;
/** Never equals an ETag of a response. */
const neverEqual = '"-"';

/** Reads the prefix before the handler reads anything, and removes it from the conditions of the request. */
export function readTagPrefix(exchange: Exchange): MaybePromise<void> {
  const { dependencies, request } = exchange;
  if (dependencies.tagPrefix === null) {
    return undefined;
  }
  return chain(dependencies.tagPrefix(), (prefix) => {
    if (prefix === '') {
      return;
    }
    exchange.tagPrefix = prefix;
    for (const name of conditions) {
      const value = request.headers[name];
      if (value !== undefined) {
        request.headers[name] = withoutPrefix(String(value), prefix);
      }
    }
  });
}

function withoutPrefix(tags: string, prefix: string): string {
  return tags.replace(/"([^"]*)"/g, (_, tag: string) =>
    tag.startsWith(prefix) ? `"${tag.slice(prefix.length)}"` : neverEqual,
  );
}

/** The ETag of a response with the prefix. */
export function withTagPrefix(tag: string, prefix: string): string {
  return tag.replace('"', `"${prefix}`);
}
