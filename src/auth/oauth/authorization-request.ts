/** The query of an authorization request, bounded and in the terms of the library. */
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { isClientId } from './adapter.ts';
import { implicitMode } from './provider-extensions.ts';
import { oauthQueries } from './queries.ts';
import { defaultScope, isScope } from './scopes.ts';

/** Of the query: it is stored until the person has logged in, and nobody needs a credential for it. */
export const authorizationBytesMax = 2048;

/** @throws AppError badRequest where the query is too long, as it was sent or as it is stored */
export async function readAuthorizationRequest(text: string, database: Database): Promise<URLSearchParams> {
  const query = new URLSearchParams(text);
  if (Math.max(text.length, String(query).length) > authorizationBytesMax) {
    throw new AppError(
      'badRequest',
      `The query of the authorization request is longer than ${authorizationBytesMax} bytes. Send a shorter state.`,
    );
  }
  await normalise(query, database);
  return query;
}

/** Scopes and flows as we know them, in the terms of the library. */
async function normalise(query: URLSearchParams, database: Database): Promise<void> {
  for (const name of [
    'x_refused',
    'nonce',
    'acr_values',
    'max_age',
    'id_token_hint',
    'claims',
    'claims_locales',
  ]) {
    query.delete(name);
  }
  if (query.getAll('scope').every((scope) => scope === '')) {
    query.set('scope', defaultScope);
  }
  const unknown = query
    .getAll('scope')
    .flatMap((scope) => scope.split(' '))
    .filter((scope) => scope !== '' && !isScope(scope));
  const isOnce = query.getAll('response_type').length === 1;
  const responseType = isOnce ? (query.get('response_type') ?? '') : '';
  const mode = query.get('response_mode') ?? '';
  const usual = responseType === 'token' ? 'fragment' : 'query';
  if (query.getAll('response_mode').length > 1) {
    return;
  }
  if (mode !== '' && mode !== usual) {
    query.set('response_mode', 'unsupported');
  }
  const wantsAdmin = (query.get('scope') ?? '').split(' ').includes('admin');
  if (!(await mayUse(responseType, query.get('client_id') ?? '', database))) {
    query.set('x_refused', 'unauthorized_client');
  } else if (unknown.length > 0) {
    query.set('x_refused', unknown.join(' '));
  } else if (responseType === 'token' && wantsAdmin) {
    query.set('x_refused', 'admin');
  }
  if (responseType === 'token' && (mode === '' || mode === 'fragment')) {
    query.set('response_type', 'code');
    query.set('response_mode', implicitMode);
  }
}

/** Was the application registered for the flow? The library itself refuses those that are not known. */
async function mayUse(responseType: string, clientId: string, database: Database): Promise<boolean> {
  const needed = { token: 'implicit', code: 'authorization_code' }[responseType];
  const client = isClientId(clientId) ? await oauthQueries(database).findClient(clientId) : undefined;
  return needed === undefined || client === undefined || client.grants.split(' ').includes(needed);
}
