/**
 * Sign-in to the console by a link that a command prints. Who runs commands on the database of a shop could create a key
 * with the scope admin, so a link gives no right that its maker does not have. It is used once, and stored as SHA-256.
 */
import { hash } from 'node:crypto';
import { scopes } from '../../access/access.ts';
import type { Principal } from '../../access/principal.ts';
import { type Clock, timestamp } from '../../clock.ts';
import { commandName } from '../../command-name.ts';
import type { Context } from '../../database/context.ts';
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { consoleClientId } from './clients.ts';
import type { ConsoleClient } from './console-client.ts';
import { oauthQueries } from './queries.ts';
import type { ScopeApprovals } from './scope-approvals.ts';

const linkLifetimeMs = 15 * 60_000;
/** The link that the start of a server prints is valid until the server stops or starts again. */
const startLinkLifetimeMs = 365 * 24 * 60 * 60_000;
const tokenLifetimeMs = 8 * 60 * 60_000;

const linkModel = 'ConsoleLink';
const startLinkModel = 'ConsoleStartLink';

/** A link without the URL of the page. */
export interface ConsoleLink {
  readonly link: string;
  readonly expiresAt: string;
}

export interface ConsoleSignIn {
  readonly accessToken: string;
  readonly expiresAt: string;
}

export type ConsoleLinks = ReturnType<typeof createConsoleLinks>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly approvals: ScopeApprovals;
  readonly client: ConsoleClient;
}

export function createConsoleLinks({ database, clock, approvals, client }: Dependencies) {
  const random = () => Buffer.from(clock.random(32)).toString('base64url');

  async function approve(context: Context): Promise<void> {
    const { id, status } = await approvals.request(consoleClientId, null);
    if (status !== 'approved') {
      await approvals.approve(context, id);
    }
  }

  async function create(context: Context, model: string, lifetimeMs: number): Promise<ConsoleLink> {
    await client.findOrCreate();
    await approve(context);
    const link = random();
    const expiresAt = timestamp(clock.now() + lifetimeMs);
    await context.transaction((tx) =>
      oauthQueries(tx).upsertObject({ ...objectOf(link, expiresAt), model, payload: '{}', scope: null }),
    );
    return { link, expiresAt };
  }

  return {
    /** Also approves the scope admin for the console, because a link needs it. */
    create: (context: Context) => create(context, linkModel, linkLifetimeMs),

    /** The link of a start. Earlier ones end. */
    async createForStart(context: Context) {
      await oauthQueries(database).deleteObjectsOfModel(startLinkModel);
      return create(context, startLinkModel, startLinkLifetimeMs);
    },

    /** Ends the link of the start: the server stops. */
    async deleteStartLinks() {
      await oauthQueries(database).deleteObjectsOfModel(startLinkModel);
    },

    /** An access token without a customer, for a link that was not used yet. @throws AppError unauthorized */
    signIn: (context: Context, link: string) =>
      context.transaction(async (tx) => {
        const queries = oauthQueries(tx);
        const id = hash('sha256', link);
        const now = timestamp(clock.now());
        const used =
          (await queries.deleteValidObject(linkModel, id, now)) +
          (await queries.deleteValidObject(startLinkModel, id, now));
        if (used === 0) {
          throw new AppError(
            'unauthorized',
            `This link is not known, was used before, or has expired. Run "${commandName} console" for another one.`,
          );
        }
        const accessToken = random();
        const expiresAt = timestamp(clock.now() + tokenLifetimeMs);
        const scope = scopes.join(' ');
        const seconds = (time: string) => Math.floor(Date.parse(time) / 1000);
        const payload = {
          kind: 'ClientCredentials',
          clientId: consoleClientId,
          scope,
          iat: seconds(now),
          exp: seconds(expiresAt),
        };
        await queries.upsertObject({
          ...objectOf(accessToken, expiresAt),
          model: 'ClientCredentials',
          payload: JSON.stringify(payload),
          scope,
        });
        return { accessToken, expiresAt };
      }),

    /** Ends the token of the request, and all others of its grant. @throws AppError conflict for other credentials */
    signOut: (context: Context, principal: Principal) =>
      context.transaction(async (tx) => {
        const queries = oauthQueries(tx);
        const { tokenHash } = principal;
        const token = tokenHash === null ? undefined : await queries.findToken(tokenHash);
        if (token?.client_id !== consoleClientId) {
          throw new AppError('conflict', 'This credential is not a token of the console.');
        }
        await queries.deleteObject(token.model, token.id);
        if (token.grant_id !== null) {
          await queries.deleteObject('Grant', hash('sha256', token.grant_id));
          await queries.deleteAllOfGrant(token.grant_id);
        }
      }),
  };
}

/** A row of the console without a customer. The secret itself is not stored. */
function objectOf(secret: string, expiresAt: string) {
  return {
    id: hash('sha256', secret),
    grant_id: null,
    uid: null,
    customer_id: null,
    client_id: consoleClientId,
    audience: null,
    expires_at: expiresAt,
  };
}
