/** Ids that identify one request: the request id (X-Request-Id) and the id of a distributed trace (W3C Trace Context). */
import type { Clock } from '../clock.ts';
import { isRequestId } from '../database/context.ts';

/**
 * Returns a function that gives a request its id: the id of the client if it is valid, else a new one. New ids are a
 * counter behind a random prefix of this process, because a random id for each request took 4 us.
 */
export function createRequestIds(clock: Clock): (given?: string | string[]) => string {
  const processName = clock.uuid().slice(0, 18);
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && isRequestId(given)) {
      return given;
    }
    count += 1;
    return `${processName}-${count.toString(36)}`;
  };
}

/** The trace id of a valid `traceparent`, else a new one. A malformed header does not fail the request. */
export function toTraceId(traceparent: string | string[] | undefined, clock: Clock): string {
  // Version 00 ends after the flags; later versions can continue after another dash.
  const match =
    /^(?!ff)(?:00(?=.{53}$)|(?!00)[0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/.exec(
      String(traceparent),
    );
  const [, trace = '', parent = ''] = match ?? [];
  const isValid = trace !== '' && !/^0+$/.test(trace) && !/^0+$/.test(parent);
  return isValid ? trace : clock.uuid().replaceAll('-', '');
}
