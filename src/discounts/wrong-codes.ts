/**
 * Limits guesses of codes by client IP. The limit is checked after a code was looked up, in the same turn of the event loop
 * in which a wrong one counts: requests that are sent at the same time get no more guesses than one after another.
 */
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createClientIpHours } from '../limits/client-ip-hours.ts';

/** Wrong codes that a client IP may send within an hour. */
export const wrongCodesMax = 20;
const minuteMs = 60_000;
const reason = 'too many wrong codes were sent from one client IP';

/** A request with a code. */
export interface CodeGuess {
  /**
   * Counts a wrong code once, however often the transaction of the request is run again. Returns the milliseconds until
   * a code of this client IP is accepted again; 0 if this one is.
   */
  count(isWrong: boolean): number;
}

export type WrongCodes = ReturnType<typeof createWrongCodes>;

export function createWrongCodes(clock: Clock) {
  const hours = createClientIpHours(clock, wrongCodesMax);
  return {
    /** @param visitorIp null: the request is not counted */
    begin(visitorIp: string | null): CodeGuess {
      let isCounted = false;
      return {
        count(isWrong) {
          const waitMs = visitorIp === null || isCounted ? 0 : hours.waitMs(visitorIp);
          if (isWrong && visitorIp !== null && waitMs === 0 && !isCounted) {
            hours.add(visitorIp);
            isCounted = true;
          }
          return waitMs;
        },
      };
    },
  };
}

/** The problem of a quote. */
export const wrongCodesText = (waitMs: number) => `${reason}: try again in ${showWait(waitMs)}`;

/** The error of an order. */
export function wrongCodesError(waitMs: number): AppError {
  return new AppError(
    'rateLimited',
    `discountCode: ${reason}: ${wrongCodesMax} are permitted within an hour. Nothing was ordered. Order without a code, or wait ${showWait(waitMs)}.`,
    {
      details: {
        retryAfterMs: waitMs,
        limits: [
          {
            policy: 'discount-code',
            limit: wrongCodesMax,
            windowSeconds: 3600,
            remaining: 0,
            resetMs: waitMs,
          },
        ],
      },
    },
  );
}

function showWait(waitMs: number): string {
  const minutes = Math.ceil(waitMs / minuteMs);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
