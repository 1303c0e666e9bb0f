/** OAuth clients: registration, list and deletion. */
import { hash } from 'node:crypto';
import { type Clock, timestamp } from '../../clock.ts';
import type { Context } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import type { Scope } from '../access.ts';
import { oauthQueries } from './queries.ts';

export const grantTypes = ['authorization_code', 'refresh_token', 'implicit', 'client_credentials'] as const;
export type GrantType = (typeof grantTypes)[number];

const redirectUrisMax = 20;
const redirectUriLengthMax = 500;

export interface ClientRequest {
  readonly name: string;
  readonly accountId: number;
  readonly scopes: readonly Scope[];
  readonly redirectUris: readonly string[];
  /** By default authorization_code and refresh_token; client_credentials when there is no redirect URI. */
  readonly grants?: readonly GrantType[] | undefined;
  readonly isNative?: boolean | undefined;
  /** A public client has no secret, and must use PKCE (RFC 7636). */
  readonly isPublic?: boolean | undefined;
}

export interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly account: string;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  readonly redirectUris: readonly string[];
  readonly isNative: boolean;
  readonly isPublic: boolean;
  readonly createdAt: string;
}

export interface ClientService {
  /** The secret is not stored, so it is shown only once; null for a public client. @throws AppError badRequest */
  create(
    context: Context,
    request: ClientRequest,
  ): Promise<{ clientId: string; clientSecret: string | null }>;
  list(): Promise<Client[]>;
  /** With all its tokens and approvals. @throws AppError notFound */
  delete(context: Context, clientId: string): Promise<void>;
}

export function createClientService(database: Database, clock: Clock): ClientService {
  const random = (bytes: number) => Buffer.from(clock.random(bytes));

  return {
    async create(context, request) {
      const { name, accountId, scopes, redirectUris, isNative = false, isPublic = false } = request;
      const grants =
        request.grants ??
        (redirectUris.length > 0
          ? (['authorization_code', 'refresh_token'] as const)
          : (['client_credentials'] as const));
      const message = errorOf({ ...request, grants });
      if (message !== null) {
        throw new AppError('badRequest', message);
      }
      // Hexadecimal, because a command would read an id that starts with the dash of base64url as an option.
      const clientId = random(16).toString('hex');
      const clientSecret = isPublic ? null : random(32).toString('base64url');
      await context.transaction((tx) =>
        oauthQueries(tx).insertClient({
          id: clientId,
          account_id: accountId,
          name,
          secret_hash: clientSecret === null ? null : hash('sha256', clientSecret),
          redirect_uris: JSON.stringify(redirectUris),
          grants: [...new Set(grants)].join(' '),
          scopes: [...new Set(scopes)].join(' '),
          is_native: isNative ? 1 : 0,
          created_at: timestamp(clock.now()),
        }),
      );
      return { clientId, clientSecret };
    },

    async list() {
      const rows = await oauthQueries(database).listClients();
      return rows.map((row) => ({
        clientId: row.id,
        name: row.name,
        account: row.account_name,
        scopes: row.scopes.split(' '),
        grants: row.grants.split(' '),
        redirectUris: JSON.parse(row.redirect_uris),
        isNative: row.is_native === 1,
        isPublic: row.secret_hash === null,
        createdAt: row.created_at,
      }));
    },

    delete: (context, clientId) =>
      context.transaction(async (tx) => {
        const queries = oauthQueries(tx);
        if ((await queries.deleteClient(clientId)) === 0) {
          throw new AppError(
            'notFound',
            `There is no application ${clientId}. "curd clients list" shows all applications.`,
          );
        }
        await queries.deleteObjectsOfClient(clientId);
        await queries.deleteApprovalsOfClient(clientId);
      }),
  };
}

/** The first error of a request, as a sentence for the operator; null when it is valid. */
function errorOf(request: ClientRequest & { readonly grants: readonly GrantType[] }): string | null {
  const { name, scopes, redirectUris, grants, isNative = false, isPublic = false } = request;
  const usesBrowser = grants.includes('authorization_code') || grants.includes('implicit');
  if (!/^[\p{L}\p{N}][^\p{Cc}\p{Cf}<>]{0,99}$/u.test(name)) {
    return 'The name of an application must have 1 to 100 characters and start with a letter or digit. Customers see it on the consent page.';
  }
  if (scopes.length === 0) {
    return 'Name the scopes that the application may request, such as "read:cheeses read:orders".';
  }
  if (usesBrowser && redirectUris.length === 0) {
    return 'Name at least one redirect URI. Customers are redirected there after consent.';
  }
  if (!usesBrowser && redirectUris.length > 0) {
    return 'A redirect URI needs the grant authorization_code or implicit.';
  }
  if (grants.includes('refresh_token') && !grants.includes('authorization_code')) {
    return 'The grant refresh_token needs the grant authorization_code.';
  }
  if (isPublic && grants.includes('client_credentials')) {
    return 'A public application has no secret, so it cannot have the grant client_credentials.';
  }
  if (isPublic && scopes.includes('admin')) {
    return 'A public application cannot have the scope admin.';
  }
  if (redirectUris.length > redirectUrisMax) {
    return `An application can have at most ${redirectUrisMax} redirect URIs.`;
  }
  return redirectUris.map((uri) => redirectUriError(uri, isNative)).find((error) => error !== null) ?? null;
}

const loopback = ['127.0.0.1', '[::1]', 'localhost'];

/** RFC 9700, section 2.1, and for native applications RFC 8252, section 7. */
function redirectUriError(text: string, isNative: boolean): string | null {
  const url = URL.parse(text);
  const refuse = (reason: string) => `The redirect URI ${text.slice(0, 100)} ${reason}.`;
  if (url === null || text.length > redirectUriLengthMax) {
    return refuse(`is not an absolute URL of at most ${redirectUriLengthMax} characters`);
  }
  if (text.includes('#')) {
    return refuse('must not have a fragment');
  }
  if (text.includes('*')) {
    return refuse('must not have a wildcard: it is compared character by character');
  }
  if (url.username !== '' || url.password !== '') {
    return refuse('must not contain a username or password');
  }
  // The host is copied into a Content-Security-Policy, so it must not contain characters that end a directive.
  if (!/^(\[[0-9a-f:]+\]|[a-z0-9.-]*)$/.test(url.hostname)) {
    return refuse('has a host that is neither a host name nor an IP address');
  }
  const isLoopback = loopback.includes(url.hostname);
  if (url.protocol === 'http:') {
    return isLoopback ? null : refuse('needs https, unless it is a loopback address');
  }
  if (url.protocol === 'https:') {
    return isNative && isLoopback ? refuse('is a loopback address, which needs http') : null;
  }
  // Custom schemes of native applications are reversed domain names.
  return isNative && /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:$/.test(url.protocol)
    ? null
    : refuse(
        'has a scheme that is not permitted: use https, or for native applications a scheme such as com.example.app',
      );
}
