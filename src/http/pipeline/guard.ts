/** What the pipeline needs of authentication and authorization, which auth/ implements. */
import type { IncomingMessage } from 'node:http';
import type { Access } from '../../access/access.ts';
import type { Audience, Principal } from '../../access/principal.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Route } from '../route.ts';

/** What decides about the access to a route. */
export type GuardedRoute = Pick<
  Route,
  'alternative' | 'permitsConfined' | 'publishable' | 'method' | 'mutatesOnGet'
> & {
  readonly access: Exclude<Access, 'operational'>;
};

export interface Guard {
  /**
   * The principals of all credentials that were sent, each of which must be valid, and accepted by the protected resource.
   * @throws AppError unauthorized
   */
  authenticate(
    request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
    audience: Audience,
    /** The publishable key in the URL. */
    keyInUrl?: string | null,
  ): MaybePromise<readonly Principal[]>;
  /** The one that may use the route; null if no credential is needed. @throws AppError unauthorized, forbidden */
  authorize(principals: readonly Principal[], route: GuardedRoute): Principal | null;
}
