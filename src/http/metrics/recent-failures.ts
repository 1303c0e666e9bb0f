/** The last requests that failed in the server: for operators who do not have the log at hand. */
import type { FastifyRequest } from 'fastify';
import { type Clock, timestamp } from '../../clock.ts';
import type { AppError } from '../../errors.ts';

const rememberedMax = 20;

export interface FailedRequest {
  readonly at: string;
  readonly requestId: string;
  readonly operationId: string | null;
  readonly message: string;
}

export type RecentFailures = ReturnType<typeof createRecentFailures>;

export function createRecentFailures(clock: Clock) {
  const failures: FailedRequest[] = [];
  return {
    add(error: AppError, request: FastifyRequest) {
      failures.unshift({
        at: timestamp(clock.now()),
        requestId: request.id,
        operationId: request.exchange?.route.operationId ?? null,
        message: `${error.message}${kindOf(error.cause)}`,
      });
      failures.length = Math.min(failures.length, rememberedMax);
    },
    /** The newest first. */
    list: () => [...failures],
  };
}

/** The class and code of the cause: its message can contain values of the request. */
function kindOf(cause: unknown): string {
  if (!(cause instanceof Error)) {
    return '';
  }
  const code = 'code' in cause ? ` ${String(cause.code)}` : '';
  const kind = `${cause.name}${code}`;
  return /^[\w ]{1,60}$/.test(kind) ? ` (${kind})` : '';
}
