/** Routes of the landing page, of the client package and of the console. */
import type { ConsoleLinks } from '../auth/oauth/console-links.ts';
import type { Clock } from '../clock.ts';
import { consoleRoutes } from '../console-server/routes.ts';
import { landingRoutes } from '../http/pages/landing-page.ts';
import type { Route } from '../http/route.ts';
import type { Config } from '../settings/config.ts';
import { apiInfo, landingText } from './api-info.ts';
import { clientPackageRoute } from './client-package.ts';

/** @param links for the sign-in to the console */
export function pageRoutes(config: Config, clock: Clock, links: ConsoleLinks): Route[] {
  const { shopName, environment, imagesUrl } = config;
  const { version } = apiInfo;
  const hasConsole = config.console === 'on';
  return [
    ...landingRoutes({
      name: shopName,
      text: landingText,
      version,
      environment,
      console: hasConsole ? '/console' : null,
    }),
    clientPackageRoute(),
    ...(hasConsole
      ? consoleRoutes({
          links,
          clock,
          shopName,
          environment,
          version,
          imagesOrigin: imagesUrl === null ? null : new URL(imagesUrl).origin,
        })
      : []),
  ];
}
