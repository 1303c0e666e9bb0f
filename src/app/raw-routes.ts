/** Creates the routes that write their own responses: the authorization server and the pages. */

import { createPageLayout } from '../auth/oauth/pages/pages.ts';
import { type EndpointDependencies, oauthEndpoints } from '../auth/oauth/provider/endpoints.ts';
import { passwordResetPages } from '../customers/login/password-reset-pages.ts';
import { createRegistration } from '../customers/login/registration.ts';
import type { RawRoute } from '../http/raw-routes.ts';
import type { Services } from './services.ts';

interface Dependencies extends Pick<EndpointDependencies, 'countClientIp' | 'issuer' | 'log'> {
  readonly services: Services;
}

export function createRawRoutes({ services, ...dependencies }: Dependencies): RawRoute[] {
  const { config, database, clock, login, customers, approvals, consoleClient, contextOf } = services;
  const { customerAdministration } = services;
  const { secret, passwordLengthMin } = config;
  const shared = { ...dependencies, secret, page: createPageLayout(config.shopName) };
  return [
    ...oauthEndpoints({
      ...shared,
      database,
      clock,
      directory: login,
      registration:
        config.registration === 'open'
          ? createRegistration(customers, passwordLengthMin, contextOf('anonymous'))
          : null,
      approvals,
      consoleClient: config.console === 'on' ? consoleClient : null,
    }),
    ...passwordResetPages({ ...shared, administration: customerAdministration, passwordLengthMin }),
  ];
}
