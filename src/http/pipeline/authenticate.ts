/** The steps that decide who sent a request, whether it is within the rate limits, and whether it is permitted. */
import type { Access } from '../../access/access.ts';
import type { KeyLimits } from '../../access/key-limits.ts';
import { findActingCustomer, type Principal } from '../../access/principal.ts';
import { AppError } from '../../errors.ts';
import { countedPrincipal } from '../../limits/rate-limits.ts';
import { chain, type MaybePromise } from '../../maybe-promise.ts';
import { clientNetwork, isInNetworks, statedClientIp } from '../client-ip.ts';
import { narrowCors } from '../cors.ts';
import type { Exchange } from '../exchange.ts';
import { planHeaders } from '../responses/rate-limit-headers.ts';
import type { Route } from '../route.ts';
import { keyInUrl } from './key-in-url.ts';

/** Learns what tests have changed, unless the look-up of a credential reads it along (database/lookup.ts). */
export function readTestState({ request, dependencies }: Exchange): MaybePromise<void> {
  const { testState, hasOneServer } = dependencies;
  const { 'x-api-key': key, authorization } = request.headers;
  if (hasOneServer || (key === undefined && authorization === undefined)) {
    return testState?.refresh();
  }
}

/** @throws AppError unauthorized; rateLimited if the client IP sent too many invalid credentials */
export function authenticate(exchange: Exchange): MaybePromise<void> {
  if (exchange.hasBody) {
    // A body in the packet of the headers is parsed in this turn of the event loop, before any immediate.
    setImmediate(noteLateBody, exchange);
  }
  return chain(resolveCredentials(exchange), (principals) => setPrincipals(exchange, principals));
}

function setPrincipals(exchange: Exchange, principals: readonly Principal[]): void {
  exchange.principals = principals;
  for (const { limits } of principals) {
    if (limits?.origins !== undefined) {
      narrowCors(exchange.request, exchange.reply, limits.origins);
    }
  }
  exchange.credentialAt = performance.now();
}

/**
 * Counts a request with a valid credential by principal, and one without by client IP. If it states the client IP of a
 * visitor, it is counted in both ways.
 * @throws AppError rateLimited, badRequest
 */
export function rateLimit(exchange: Exchange): MaybePromise<void> {
  return chain(countRequest(exchange), () => {
    exchange.limitsAt = performance.now();
  });
}

function countRequest(exchange: Exchange): MaybePromise<void> {
  const { principals, route, request } = exchange;
  if (principals.length === 0) {
    return countClientIp(exchange);
  }
  if (route.acceptsClientIp) {
    try {
      exchange.statedClientIp = statedClientIp(request.headers, principals);
    } catch (error) {
      return chain(chargePlan(exchange), () => {
        throw error;
      });
    }
  }
  const isLogin = route.rateLimitGroup === 'login';
  if (exchange.statedClientIp !== null || (isLogin && principals.every(isForAnybody))) {
    return chain(countClientIp(exchange), () => chargePlan(exchange));
  }
  return chargePlan(exchange);
}

/** The client IP as limits count it: of the connection, or the one that a server states for its visitor. */
export function toClientIp({ statedClientIp, request }: Exchange): string {
  return statedClientIp ?? clientNetwork(request.ip);
}

/** See `visitorIp` of RouteRequest. */
export function toVisitorIp(exchange: Exchange): string | null {
  const { statedClientIp, principals } = exchange;
  return statedClientIp === null && principals.some(isServer) ? null : toClientIp(exchange);
}

/** A secret key, or an OAuth client for itself. */
const isServer = (principal: Principal) =>
  principal.kind === 'apiKey' || (principal.kind === 'oauth' && findActingCustomer(principal) === null);

function chargePlan(exchange: Exchange): MaybePromise<void> {
  const { rateLimits } = exchange.dependencies;
  const counted = countedPrincipal(exchange.principals) as Principal;
  const counting =
    counted.kind === 'publishable'
      ? rateLimits.chargePublishable(counted, toClientIp(exchange))
      : rateLimits.charge(counted);
  return chain(counting, (charge) => {
    exchange.charge = charge;
    exchange.reply.headers(planHeaders(charge.rateLimitStatus()));
  });
}

/**
 * Lifts no limit of logins and registrations: anybody gets a session by registering, and a publishable key from a page. A
 * restricted key may not log in.
 */
const isForAnybody = ({ accountId, kind }: Principal) =>
  accountId === null || kind === 'publishable' || kind === 'restricted';

/** @throws AppError unauthorized, forbidden */
export function authorize(exchange: Exchange): void {
  for (const principal of exchange.principals) {
    if (principal.limits !== null) {
      requireOrigin(principal.limits, exchange.request.headers.origin);
      requireClientIp(principal.limits, exchange.request.ip);
    }
  }
  setPrincipal(exchange, exchange.principals);
}

/** @throws AppError forbidden */
function requireClientIp({ addresses }: KeyLimits, clientIp: string): void {
  if (addresses !== undefined && !isInNetworks(clientIp, addresses)) {
    throw new AppError(
      'forbidden',
      `This restricted key is accepted only from ${addresses.join(', ')}. Send the request from there, or create a key with this network.`,
      { details: { scopes: [] } },
    );
  }
}

/** Stops pages of other origins. Programs send any Origin, or none. @throws AppError forbidden */
function requireOrigin({ origins }: KeyLimits, origin: string | undefined): void {
  if (origins !== undefined && origin !== undefined && !origins.includes(origin)) {
    throw new AppError(
      'forbidden',
      `This publishable key is for pages of ${origins.join(', ')}, and the request comes from a page of another origin. Use the key of that page, or create a key with its origin.`,
      { details: { scopes: [] } },
    );
  }
}

/**
 * Checks the credentials again when the body has arrived: a client can send it minutes after the headers, and the
 * credentials can be revoked in between. A body that arrived with the headers needs no second check.
 * @throws AppError unauthorized, forbidden
 */
export function recheckCredential(exchange: Exchange): MaybePromise<void> {
  if (exchange.isCredentialOld) {
    return checkCredential(exchange);
  }
}

/** Resolves the credentials of the headers again, without counting the request. @throws AppError unauthorized, forbidden */
export function checkCredential(exchange: Exchange): MaybePromise<void> {
  return chain(resolveCredentials(exchange), (principals) => setPrincipal(exchange, principals));
}

function noteLateBody(exchange: Exchange): void {
  exchange.isCredentialOld = !exchange.request.raw.complete;
}

/** Requests with an invalid credential are counted by client IP. */
function resolveCredentials(exchange: Exchange): MaybePromise<readonly Principal[]> {
  const rethrow = (error: unknown): MaybePromise<never> => {
    if (error instanceof AppError && error.code === 'unauthorized') {
      return chain(countClientIp(exchange), () => {
        throw error;
      });
    }
    throw error;
  };
  try {
    const { request, route, dependencies } = exchange;
    const audience = route.resource?.audience ?? 'api';
    const query = request.query as URLSearchParams;
    const key = query.size === 0 ? null : keyInUrl(query, route);
    const principals = dependencies.guard.authenticate(request.raw, audience, key);
    return principals instanceof Promise ? principals.catch(rethrow) : principals;
  } catch (error) {
    return rethrow(error);
  }
}

function countClientIp(exchange: Exchange): MaybePromise<void> {
  const { route, dependencies } = exchange;
  const group = route.rateLimitGroup ?? (route.access === 'operational' ? 'public' : 'any');
  return chain(dependencies.rateLimits.countClientIp(toClientIp(exchange), group), (count) => {
    exchange.clientIpCount = count;
  });
}

function setPrincipal(exchange: Exchange, principals: readonly Principal[]): void {
  // Operational routes do not have the steps that call this.
  const route = exchange.route as Route & { readonly access: Exclude<Access, 'operational'> };
  exchange.principal = exchange.dependencies.guard.authorize(principals, route);
}
