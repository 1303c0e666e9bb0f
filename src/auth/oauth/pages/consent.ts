/** What an application requests of a customer, and what the customer may grant. */
import { consoleClientId } from '../clients.ts';
import type { CustomerSummary, Role } from '../customer-directory.ts';
import { permittedScopes } from '../scopes.ts';
import type { ClientInfo } from './pages.ts';

interface SplitScopes {
  readonly granted: readonly string[];
  readonly refused: readonly string[];
  /**
   * The refused scopes that are pending: the grant includes them, and each request ignores them until an operator
   * approves. So the console gets the scope admin without a second sign-in.
   */
  readonly pending: readonly string[];
  readonly awaitsApproval: boolean;
}

/** A request for consent. */
export interface ConsentRequest extends SplitScopes {
  readonly client: ClientInfo;
  readonly clientId: string;
  readonly customer: CustomerSummary;
  readonly customerId: number;
}

/** Splits the requested scopes into what this customer may grant and may not grant. */
export function splitScopes(
  requested: readonly string[],
  clientId: string,
  role: Role,
  isApproved: boolean,
): SplitScopes {
  const isConsole = clientId === consoleClientId;
  const permitted: readonly string[] = isConsole && role !== 'staff' ? [] : permittedScopes(role, isApproved);
  const awaitsApproval = requested.includes('admin') && role === 'staff' && !isApproved;
  return {
    granted: requested.filter((scope) => permitted.includes(scope)),
    refused: requested.filter((scope) => !permitted.includes(scope)),
    pending: isConsole && awaitsApproval ? ['admin'] : [],
    awaitsApproval,
  };
}

/** Why nothing can be granted. */
export function describeDenial({ clientId, awaitsApproval }: ConsentRequest): string {
  if (clientId === consoleClientId) {
    return 'only staff of the shop can sign in to the console';
  }
  return awaitsApproval
    ? 'admin waits for the approval of an operator'
    : 'none of the scopes may be granted by this customer';
}
