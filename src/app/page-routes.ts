/** Opens the landing page, the client package and the page of the console. */
import type { ConsoleLinks } from '../auth/oauth/console-links.ts';
import { consoleRoutes } from '../console-server/routes.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { landingRoutes } from '../http/pages/landing-page.ts';
import { landingText } from './api-info.ts';
import { clientPackageRoutes } from './client-package.ts';

interface Dependencies extends AreaDependencies {
  /** Links that sign in to the console. */
  readonly consoleLinks: ConsoleLinks;
}

export function openPages({ config, site, clock, version, consoleLinks }: Dependencies) {
  const { environment, imagesUrl } = config;
  const hasConsole = config.console === 'on';
  return {
    routes: [
      ...landingRoutes({
        site,
        text: landingText,
        version,
        environment,
        console: hasConsole ? '/console' : null,
      }),
      ...clientPackageRoutes(),
      ...(hasConsole
        ? consoleRoutes({
            links: consoleLinks,
            clock,
            site,
            environment,
            version,
            imagesOrigin: imagesUrl === null ? null : new URL(imagesUrl).origin,
          })
        : []),
    ],
  } satisfies Area;
}
