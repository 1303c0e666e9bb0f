/** OAuth clients: registration, list and deletion. */
import { hash } from 'node:crypto';
import type { Scope } from '../../access/access.ts';
import { type Clock, timestamp } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Context } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import { AppError, type FieldError } from '../../errors.ts';
import { recordEvents } from '../../event-log/record.ts';
import { clientEvents } from './event-types.ts';
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
  /** Default: authorization_code and refresh_token; client_credentials when there is no redirect URI. */
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
  /** True for the client of the console, which cannot be deleted. */
  readonly builtIn: boolean;
}

/** Texts that cannot be ids of clients cause no query. */
export const isClientId = (text: string): boolean => /^[\w-]{1,100}$/.test(text);

/** The client of the console, which is part of the server. */
export const consoleClientId = 'console';

export type ClientService = ReturnType<typeof createClientService>;

export function createClientService(database: Database, clock: Clock) {
  const random = (bytes: number) => Buffer.from(clock.random(bytes));

  return {
    /** The secret is not stored, so it is shown only once; null for a public client. @throws AppError validation */
    async create(context: Context, request: ClientRequest) {
      const { name, accountId, scopes, redirectUris, isNative = false, isPublic = false } = request;
      const grants =
        request.grants ??
        (redirectUris.length > 0
          ? (['authorization_code', 'refresh_token'] as const)
          : (['client_credentials'] as const));
      const error = errorOf({ ...request, grants });
      if (error !== null) {
        throw new AppError('validation', error.message, { errors: [error] });
      }
      // Hexadecimal, because a command would read an id that starts with the dash of base64url as an option.
      const clientId = random(16).toString('hex');
      const unique = [...new Set(grants)];
      const clientSecret = isPublic ? null : random(32).toString('base64url');
      const createdAt = timestamp(clock.now());
      return context.transaction(async (tx) => {
        await oauthQueries(tx).insertClient({
          id: clientId,
          account_id: accountId,
          name,
          secret_hash: clientSecret === null ? null : hash('sha256', clientSecret),
          redirect_uris: JSON.stringify(redirectUris),
          grants: unique.join(' '),
          scopes: [...new Set(scopes)].join(' '),
          is_native: isNative ? 1 : 0,
          created_at: createdAt,
        });
        const event = clientEvents.created.of(`oauth_client:${clientId}`, { id: clientId });
        await recordEvents(tx, context.origin, createdAt, [event]);
        return { clientId, clientSecret, createdAt, grants: unique };
      });
    },

    listNames: (ids: readonly string[]) => oauthQueries(database).listClientNames(ids),

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
        builtIn: row.id === consoleClientId,
      }));
    },

    /**
     * Deletes the client with all its tokens and approvals.
     * @throws AppError notFound, conflict for the client of the console
     */
    delete: (context: Context, clientId: string) =>
      context.transaction(async (tx) => {
        const queries = oauthQueries(tx);
        if (clientId === consoleClientId) {
          throw new AppError(
            'conflict',
            'The application console is part of this server and cannot be deleted.',
          );
        }
        if (!isClientId(clientId) || (await queries.deleteClient(clientId)) === 0) {
          throw new AppError(
            'notFound',
            `There is no application ${clientId.slice(0, 100)}. "${commandName} clients list" shows all applications.`,
          );
        }
        await queries.deleteApprovalsOfClient(clientId);
        await queries.deleteObjectsOfClient(clientId);
        const event = clientEvents.deleted.of(`oauth_client:${clientId}`, { id: clientId });
        await recordEvents(tx, context.origin, timestamp(clock.now()), [event]);
      }),
  };
}

/** The first error of a request, with a sentence for the operator; null when it is valid. */
function errorOf(request: ClientRequest & { readonly grants: readonly GrantType[] }): FieldError | null {
  const invalid = (field: string, message: string): FieldError => ({ field, message });
  const { name, scopes, redirectUris, grants, isNative = false, isPublic = false } = request;
  const usesBrowser = grants.includes('authorization_code') || grants.includes('implicit');
  if (!/^[\p{L}\p{N}][^\p{Cc}\p{Cf}<>]{0,99}$/u.test(name)) {
    return invalid(
      'name',
      'The name of an application must have 1 to 100 characters and start with a letter or digit. Customers see it on the consent page.',
    );
  }
  if (scopes.length === 0) {
    return invalid(
      'scopes',
      'Name the scopes that the application may request, such as "read:cheeses read:orders".',
    );
  }
  if (usesBrowser && redirectUris.length === 0) {
    return invalid(
      'redirectUris',
      'Name at least one redirect URI. Customers are redirected there after consent.',
    );
  }
  if (!usesBrowser && redirectUris.length > 0) {
    return invalid('redirectUris', 'A redirect URI needs the grant authorization_code or implicit.');
  }
  if (grants.includes('refresh_token') && !grants.includes('authorization_code')) {
    return invalid('grants', 'The grant refresh_token needs the grant authorization_code.');
  }
  if (isPublic && grants.includes('client_credentials')) {
    return invalid(
      'grants',
      'A public application has no secret, so it cannot have the grant client_credentials.',
    );
  }
  if (isPublic && scopes.includes('admin')) {
    return invalid('scopes', 'A public application cannot have the scope admin.');
  }
  if (redirectUris.length > redirectUrisMax) {
    return invalid('redirectUris', `An application can have at most ${redirectUrisMax} redirect URIs.`);
  }
  for (const [index, uri] of redirectUris.entries()) {
    const message = redirectUriError(uri, isNative);
    if (message !== null) {
      return invalid(`redirectUris[${index}]`, message);
    }
  }
  return null;
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
