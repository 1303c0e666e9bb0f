/** What is deleted with a customer, besides what other areas have. */
import type { OAuthGrants } from '../auth/oauth/grants.ts';
import type { Sessions } from '../auth/sessions/service.ts';
import { type Hook, hookOn } from '../hooks/hooks.ts';
import { customerDeleted } from './hook-points.ts';
import { customerQueries } from './queries.ts';

export function deletionHooks(
  sessions: Pick<Sessions, 'endAll'>,
  grants: Pick<OAuthGrants, 'deleteCustomer'>,
): Hook[] {
  return [
    hookOn(customerDeleted, 'session', (tx, context, { id }) => sessions.endAll(tx, context, id, null)),
    hookOn(customerDeleted, 'password_reset', (tx, _, { id }) => customerQueries(tx).deleteResetOf(id)),
    hookOn(customerDeleted, 'oauth_object', (tx, context, { id }) => grants.deleteCustomer(tx, context, id)),
    hookOn(customerDeleted, 'login_network', (tx, _, { id }) => customerQueries(tx).deleteNetworks(id)),
  ];
}
