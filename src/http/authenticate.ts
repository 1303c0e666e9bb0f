/** What stands in front of every route: who is calling, how much of the server they may still take, whether they may. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import { AppError } from '../errors.ts';
import type { ClientIpCount, RateLimits, RequestCharge } from '../limits/rate-limits.ts';
import { chain, type MaybePromise } from '../maybe-promise.ts';
import { clientNetwork } from './client-ip.ts';
import { planHeaders } from './rate-limit-headers.ts';
import type { Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    /** By performance.now(). */
    startedAt: number;
    /** What the call costs, where a valid credential came with it. */
    charge: RequestCharge | null;
    /** How the request was counted where no valid credential came with it. */
    clientIpCount: ClientIpCount | null;
    /** The body had not arrived in the turn of the event loop in which the credentials were checked. */
    isBodyLate: boolean;
  }
}

export interface Guard {
  /** Every credential that was sent; all of them are valid. @throws AppError unauthorized */
  authenticate(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): MaybePromise<readonly Principal[]>;
  /** The one of them that may; null where nobody need be known. @throws AppError unauthorized, forbidden */
  authorize(
    principals: readonly Principal[],
    access: Exclude<Access, 'operational'>,
    alternative?: string,
  ): Principal | null;
}

export interface Admission {
  /** Checks and counts a request when its headers have arrived. @throws AppError unauthorized, rateLimited, forbidden */
  admit(route: Route, request: FastifyRequest, reply: FastifyReply): MaybePromise<void>;
  /**
   * Checks the credentials again when the body has arrived: a client can send it minutes after the headers, and the
   * credentials can be revoked in between. Does nothing where the body came with the headers.
   * @throws AppError unauthorized, forbidden
   */
  readmit(route: Route, request: FastifyRequest): MaybePromise<void>;
}

export function createAdmission(guard: Guard, rateLimits: RateLimits): Admission {
  function countClientIp({ access, rateLimitGroup }: Route, request: FastifyRequest): void {
    const group = rateLimitGroup ?? (access === 'operational' ? 'public' : 'any');
    request.clientIpCount = rateLimits.countClientIp(clientNetwork(request.ip), group);
  }

  /** Requests with a wrong credential are counted by client IP, and refused once there were too many. */
  function identify(route: Route, request: FastifyRequest): MaybePromise<readonly Principal[]> {
    function turnAway(error: unknown): never {
      if (error instanceof AppError && error.code === 'unauthorized') {
        countClientIp(route, request);
      }
      throw error;
    }

    try {
      const principals = guard.authenticate(request.raw);
      return principals instanceof Promise ? principals.catch(turnAway) : principals;
    } catch (error) {
      return turnAway(error);
    }
  }

  return {
    admit(route, request, reply) {
      const { access, alternative } = route;
      if (access === 'operational') {
        countClientIp(route, request);
        return;
      }
      noteArrival(request);
      return chain(identify(route, request), (principals) => {
        if (principals.length === 0) {
          countClientIp(route, request);
          request.principal = guard.authorize(principals, access, alternative);
          return;
        }
        return chain(rateLimits.charge(principals), (charge) => {
          request.charge = charge;
          reply.headers(planHeaders(charge.rateLimitStatus()));
          request.principal = guard.authorize(principals, access, alternative);
        });
      });
    },

    readmit(route, request) {
      const { access, alternative } = route;
      if (access === 'operational' || !request.isBodyLate) {
        return;
      }
      return chain(identify(route, request), (principals) => {
        request.principal = guard.authorize(principals, access, alternative);
      });
    },
  };
}

/**
 * A body in the packet of the headers is parsed in the same turn, before any immediate. So the usual request is
 * checked once.
 */
function noteArrival(request: FastifyRequest): void {
  if (!isBare(request.headers)) {
    setImmediate(() => {
      request.isBodyLate = !request.raw.complete;
    });
  }
}

/** The request has no body. */
export function isBare(headers: IncomingHttpHeaders): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}
