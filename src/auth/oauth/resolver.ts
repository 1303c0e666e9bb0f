/** Resolves access tokens to principals: every bearer token that is neither an API key nor a session. */
import { hash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { createLookup } from '../../database/lookup.ts';
import { chain } from '../../maybe-promise.ts';
import type { Resolution, Resolver } from '../guard.ts';
import { type TokenRow, tokenById } from './queries.ts';
import { isScopeApprovalValid } from './scope-approvals.ts';
import { permittedScopes } from './scopes.ts';

const tokenLengthMax = 200;

export function createTokenResolver(database: Database, clock: Clock): Resolver {
  const find = createLookup<TokenRow>(database, tokenById);

  function toPrincipal(row: TokenRow | undefined): Resolution {
    const now = clock.now();
    if (row === undefined || (row.customer_id !== null && row.role === null)) {
      return { rejected: 'The access token is not known, or was revoked.' };
    }
    if (Date.parse(row.expires_at) <= now) {
      return { rejected: 'The access token has expired.' };
    }
    return {
      kind: 'oauth',
      id:
        row.customer_id === null
          ? `client:${row.client_id}`
          : `client:${row.client_id}/customer:${row.customer_id}`,
      accountId: row.account_id,
      plan: row.plan,
      scopes: scopesOf(row, now),
      audience: row.audience === null ? 'api' : 'mcp',
      limits: null,
      customerId: row.customer_id,
      expiresAt: row.expires_at,
      sessionHash: null,
      confinedTo: null,
      tokenHash: row.id,
    };
  }

  return ({ place, text }) =>
    place !== 'authorization'
      ? 'skip'
      : text.length > tokenLengthMax
        ? toPrincipal(undefined)
        : chain(find(hash('sha256', text)), toPrincipal);
}

/** The granted scopes that role, approval and client still permit. */
function scopesOf(row: TokenRow, now: number): ReadonlySet<string> {
  const isApproved = isScopeApprovalValid(
    { status: row.approval as 'approved', expires_at: row.approval_expires_at },
    now,
  );
  const permitted: readonly string[] = permittedScopes(row.role, isApproved);
  const listed = row.client_scopes.split(' ');
  const granted = (row.scope ?? '')
    .split(' ')
    .filter((scope) => permitted.includes(scope) && listed.includes(scope));
  return new Set(granted);
}
