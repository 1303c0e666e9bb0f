/**
 * Checks of an authorization request before the library reads it, and its translation to the terms of the library.
 *
 * A refusal is not thrown here: only the library knows where the error must be sent. It is recorded for the request, and
 * the library's check of extra parameters throws it (provider.ts).
 */
import type { IncomingMessage } from 'node:http';
import { mcpScopes } from '../../../access/mcp.ts';
import type { Database } from '../../../database/database.ts';
import { AppError } from '../../../errors.ts';
import type { MaybePromise } from '../../../maybe-promise.ts';
import { isClientId } from '../clients.ts';
import { oauthQueries } from '../queries.ts';
import { defaultScope, isScope } from '../scopes.ts';
import { implicitMode } from './provider-extensions.ts';

/** Bounds what anyone can store without a credential: the query is stored until the customer has logged in. */
export const authorizeQueryBytesMax = 2048;

export type Refusal =
  | { readonly error: 'unauthorized_client' | 'invalid_target' }
  | { readonly error: 'invalid_scope'; readonly scope: string };

interface AuthorizeRequest {
  readonly query: URLSearchParams;
  readonly database: Database;
}

/** `leave to library`: the library refuses the request, so the remaining checks must not change it. */
type CheckResult = Refusal | 'leave to library' | undefined;

const refusals = new WeakMap<IncomingMessage, Refusal>();

/** Why the checks refused a request; undefined when they did not. */
export function findRefusal(request: IncomingMessage): Refusal | undefined {
  return refusals.get(request);
}

/**
 * The query for the library. Records the first refusal for the request.
 * @throws AppError badRequest when the query is too long, as sent or as stored
 */
export async function readAuthorizeRequest(
  request: IncomingMessage,
  text: string,
  database: Database,
): Promise<URLSearchParams> {
  const query = new URLSearchParams(text);
  if (Math.max(text.length, String(query).length) > authorizeQueryBytesMax) {
    throw new AppError(
      'badRequest',
      `The query of the authorization request is longer than ${authorizeQueryBytesMax} bytes. Send a shorter state.`,
    );
  }
  for (const check of authorizeChecks) {
    const result = await check({ query, database });
    if (result === 'leave to library') {
      break;
    }
    if (result !== undefined && !refusals.has(request)) {
      refusals.set(request, result);
    }
  }
  return query;
}

/**
 * Sorted as they run. The last one also runs after a refusal, because the error is sent in the response mode of the
 * flow.
 */
export const authorizeChecks: readonly ((request: AuthorizeRequest) => MaybePromise<CheckResult>)[] = [
  dropParametersNotOffered,
  setDefaultScope,
  leaveRepeatedResponseMode,
  refuseResponseModeOfOtherFlow,
  refuseUnregisteredFlow,
  refuseUnknownScopes,
  refuseResourceOfFlow,
  refuseAdminInImplicitFlow,
  translateImplicitFlow,
];

/** Parameters of OpenID Connect. The library refuses them without the scope openid, which is not offered. */
function dropParametersNotOffered({ query }: AuthorizeRequest): undefined {
  for (const name of ['nonce', 'acr_values', 'max_age', 'id_token_hint', 'claims', 'claims_locales']) {
    query.delete(name);
  }
}

function setDefaultScope({ query }: AuthorizeRequest): undefined {
  if (query.getAll('scope').every((scope) => scope === '')) {
    query.set('scope', defaultScope);
  }
}

function leaveRepeatedResponseMode({ query }: AuthorizeRequest): CheckResult {
  return query.getAll('response_mode').length > 1 ? 'leave to library' : undefined;
}

/** The library has no mode with this name, and refuses it. */
function refuseResponseModeOfOtherFlow({ query }: AuthorizeRequest): undefined {
  const mode = query.get('response_mode') ?? '';
  const modeOfFlow = responseTypeOf(query) === 'token' ? 'fragment' : 'query';
  if (mode !== '' && mode !== modeOfFlow) {
    query.set('response_mode', 'unsupported');
  }
}

/** The library refuses unknown clients and unknown response types. */
async function refuseUnregisteredFlow({ query, database }: AuthorizeRequest): Promise<CheckResult> {
  const grant = { token: 'implicit', code: 'authorization_code' }[responseTypeOf(query)];
  const clientId = query.get('client_id') ?? '';
  const client = isClientId(clientId) ? await oauthQueries(database).findClient(clientId) : undefined;
  const isRegistered =
    grant === undefined || client === undefined || client.grants.split(' ').includes(grant);
  return isRegistered ? undefined : { error: 'unauthorized_client' };
}

function refuseUnknownScopes({ query }: AuthorizeRequest): CheckResult {
  const unknown = query
    .getAll('scope')
    .flatMap((scope) => scope.split(' '))
    .filter((scope) => scope !== '' && !isScopeOfResource(query, scope));
  return unknown.length > 0 ? { error: 'invalid_scope', scope: unknown.join(' ') } : undefined;
}

/** A token for the MCP endpoint has the scopes of its tools only. The library refuses all other resources. */
function isScopeOfResource(query: URLSearchParams, scope: string): boolean {
  return isScope(scope) && (!hasResource(query) || mcpScopes.includes(scope));
}

const hasResource = (query: URLSearchParams) => query.getAll('resource').some((resource) => resource !== '');

/** A code or token is for one resource (RFC 8707). The implicit flow issues tokens for the API only. */
function refuseResourceOfFlow({ query }: AuthorizeRequest): CheckResult {
  const isRefused =
    hasResource(query) && (responseTypeOf(query) === 'token' || query.getAll('resource').length > 1);
  return isRefused ? { error: 'invalid_target' } : undefined;
}

/** A token in a URL is too exposed for admin (RFC 9700, section 2.1.2). */
function refuseAdminInImplicitFlow({ query }: AuthorizeRequest): CheckResult {
  const asksForAdmin = (query.get('scope') ?? '').split(' ').includes('admin');
  return asksForAdmin && responseTypeOf(query) === 'token'
    ? { error: 'invalid_scope', scope: 'admin' }
    : undefined;
}

/** The library has no implicit flow: provider-extensions.ts implements it as a response mode of the code flow. */
function translateImplicitFlow({ query }: AuthorizeRequest): undefined {
  const mode = query.get('response_mode') ?? '';
  if (responseTypeOf(query) === 'token' && (mode === '' || mode === 'fragment')) {
    query.set('response_type', 'code');
    query.set('response_mode', implicitMode);
  }
}

/** Empty when the parameter is missing or repeated, which the library refuses. */
function responseTypeOf(query: URLSearchParams): string {
  const [type = '', ...others] = query.getAll('response_type');
  return others.length === 0 ? type : '';
}
