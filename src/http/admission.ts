/** What stands in front of every route: who is calling, how much of the server they may still take, whether they may. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { after, type Eventual } from '../eventual.ts';
import { addressOf } from './address.ts';
import type { Principal } from './principal.ts';
import type { Charge, RateLimits } from './rate-limits.ts';
import type { Access, Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    /** By performance.now(). */
    startedAt: number;
    /** What the call costs, where a valid credential came with it. */
    charge: Charge | null;
  }
}

export interface Guard {
  /** Every credential that was sent; all of them are valid. @throws AppError unauthorized */
  identify(headers: IncomingHttpHeaders): Eventual<readonly Principal[]>;
  /** The one of them that may; null where nobody need be known. @throws AppError unauthorized, forbidden */
  admit(
    principals: readonly Principal[],
    access: Exclude<Access, 'operational'>,
    alternative?: string,
  ): Principal | null;
}

/** @throws AppError unauthorized, rateLimited, forbidden, in this order */
export function admission(guard: Guard, rateLimits: RateLimits) {
  return (
    { access, alternative, isForAccounts }: Route,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Eventual<void> => {
    if (access === 'operational') {
      return;
    }

    function countAddress(): void {
      rateLimits.countAddress(addressOf(request.ip), isForAccounts ? 'account' : 'any');
    }

    /** Whoever tries credentials out is told so, until too many were wrong. */
    function turnAway(error: unknown): never {
      if (error instanceof AppError && error.code === 'unauthorized') {
        countAddress();
      }
      throw error;
    }

    function identified(): Eventual<readonly Principal[]> {
      try {
        const principals = guard.identify(request.headers);
        return principals instanceof Promise ? principals.catch(turnAway) : principals;
      } catch (error) {
        return turnAway(error);
      }
    }

    return after(identified(), (principals) => {
      if (principals.length === 0) {
        countAddress();
        request.principal = guard.admit(principals, access, alternative);
        return;
      }
      return after(rateLimits.charge(principals), (charge) => {
        request.charge = charge;
        reply.headers(charge.headers());
        request.principal = guard.admit(principals, access, alternative);
      });
    });
  };
}
