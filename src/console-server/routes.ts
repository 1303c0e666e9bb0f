/** The page of the operator's console, its assets, and the sign-in by link. */
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConsoleLinks } from '../auth/oauth/console-links.ts';
import type { Clock } from '../clock.ts';
import { commandName } from '../command-name.ts';
import { AppError } from '../errors.ts';
import type { Site } from '../http/area.ts';
import { html } from '../http/pages/html.ts';
import { acceptsHtml } from '../http/pages/landing-page.ts';
import { Asset } from '../http/responses/asset.ts';
import {
  conflictResponse,
  documentedText,
  notFoundResponse,
  unauthorizedResponse,
  unavailableResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { immutable } from '../http/responses/etag.ts';
import { type RouteResponse, TextBody, uncached } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import { SignIn, SignInResult } from './schemas.ts';

const tag = 'Console';
const distFolder = fileURLToPath(new URL('../../console/dist', import.meta.url));
const assetName = /^[\w.-]+-[\dA-Z]{8}\.(js|css)$/;
const notBuilt = 'The console is not built: run "npm run build" in Curd\'s folder.';

interface Dependencies {
  readonly links: ConsoleLinks;
  readonly site: () => Site;
  readonly environment: string;
  readonly version: string;
  /** The origin of images that this server does not have; null if it has all of them. */
  readonly imagesOrigin: string | null;
  readonly clock: Pick<Clock, 'random'>;
  /** The folder of the build. */
  readonly folder?: string;
}

/** The routes of a server whose console is on. */
export function consoleRoutes(dependencies: Dependencies): Route[] {
  const { links, folder = distFolder } = dependencies;
  const assets = new Map<string, Asset>();

  async function read(name: string): Promise<string | null> {
    try {
      return await readFile(join(folder, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return null;
      }
      throw error;
    }
  }

  async function page({ headers }: { readonly headers: IncomingHttpHeaders }): Promise<RouteResponse> {
    const template = await read('index.html');
    if (template !== null) {
      return pageOf(template, dependencies);
    }
    if (!acceptsHtml(headers.accept)) {
      throw new AppError('unavailable', notBuilt);
    }
    const text =
      html`<!doctype html><html lang="en"><title>${dependencies.site().name}</title><p>${notBuilt}</p></html>`
        .text;
    const policy = "default-src 'none'; frame-ancestors 'none'";
    return {
      status: 503,
      headers: { 'Content-Security-Policy': policy, 'Cache-Control': 'no-store' },
      body: new TextBody(text),
    };
  }

  async function asset(name: string): Promise<Asset> {
    const known = assets.get(name);
    if (known !== undefined) {
      return known;
    }
    const text = assetName.test(name) ? await read(join('assets', name)) : null;
    if (text === null) {
      throw new AppError('notFound', 'The console has no such file. Load the page again.');
    }
    const loaded = new Asset(text);
    assets.set(name, loaded);
    return loaded;
  }

  const pageRoute = {
    method: 'GET',
    tag,
    summary: "The page of the operator's console",
    description: 'The same page for each screen, which its script opens by the path. It contains no data.',
    access: 'operational',
    cors: 'sameOrigin',
    mediaType: 'text/html; charset=utf-8',
    responses: {
      200: documentedText('The page', 'text/html'),
      ...unavailableResponse('The console is not built'),
    },
    handle: page,
  } as const;

  return [
    route({ ...pageRoute, path: '/console', operationId: 'getConsole' }),
    route({
      ...pageRoute,
      path: '/console/*',
      operationId: 'getConsoleScreen',
      description: 'The same page for every path without a dot. `path` may contain slashes.',
      examples: { path: 'orders/31' },
      responses: { ...pageRoute.responses, ...notFoundResponse('The path has a dot') },
      handle: (request) => {
        if (request.params['*']?.includes('.')) {
          throw new AppError('notFound', 'The console has no such file.');
        }
        return page(request);
      },
    }),
    route({
      method: 'GET',
      path: '/console/assets/:file',
      operationId: 'getConsoleAsset',
      examples: { file: 'main-77R7XTCM.js' },
      tag,
      summary: 'A file of the console',
      description: 'The name of a file contains a digest of its content, so it can be cached for a year.',
      access: 'operational',
      cors: 'sameOrigin',
      responses: {
        200: documentedText('A script or a stylesheet', 'text/javascript'),
        ...notFoundResponse('There is no such file'),
      },
      handle: async ({ params: { file = '' } }) => {
        const response = immutable(await asset(file));
        const type = file.endsWith('.css') ? 'text/css' : 'text/javascript';
        return { ...response, headers: { ...response.headers, 'Content-Type': `${type}; charset=utf-8` } };
      },
    }),
    route({
      method: 'POST',
      path: '/console/sign-in',
      operationId: 'signInToConsole',
      tag,
      summary: 'Sign in to the console by a link',
      description: '`curd console` prints a link. It is used once. The token has all scopes and no customer.',
      access: 'open',
      rateLimitGroup: 'login',
      cors: 'sameOrigin',
      dryRun: 'none',
      body: SignIn,
      responses: {
        201: { description: 'The token', schema: SignInResult },
        ...unauthorizedResponse('The link is not known, was used, or has expired'),
        ...unprocessableResponse,
      },
      handle: async ({ body, context }) => uncached(201, await links.signIn(context, body.link)),
    }),
    route({
      method: 'POST',
      path: '/console/sign-out',
      operationId: 'signOutOfConsole',
      tag,
      summary: 'End the token of the console that the request has',
      description: 'All tokens of the same sign-in end. Other sign-ins stay.',
      access: 'any credential',
      dryRun: 'none',
      responses: {
        204: { description: 'The token, and those of the same sign-in, are no longer valid' },
        ...conflictResponse('The credential is not a token of the console'),
      },
      handle: async ({ principal, context }) => {
        await links.signOut(context, principal);
        return { status: 204 };
      },
    }),
  ];
}

/** No script but those of this server. The nonce is for styles that the widgets add. */
function policyOf(nonce: string, imagesOrigin: string | null): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data: blob:${imagesOrigin === null ? '' : ` ${imagesOrigin}`}`,
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Every feature that browsers gate and the page does not use. */
const permissionsPolicy = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking',
]
  .map((feature) => `${feature}=()`)
  .join(', ');

function pageOf(
  template: string,
  { site, environment, version, imagesOrigin, clock }: Dependencies,
): RouteResponse {
  const nonce = Buffer.from(clock.random(18)).toString('base64');
  const { name: shopName, currency } = site();
  const title = environment === 'production' ? shopName : `${environment}: ${shopName}`;
  const values: Record<string, string> = {
    nonce,
    environment,
    version,
    title,
    shop: shopName,
    currency,
    command: commandName,
  };
  const text = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => html`${values[name] ?? ''}`.text);
  return {
    status: 200,
    headers: {
      'Content-Security-Policy': policyOf(nonce, imagesOrigin),
      'Permissions-Policy': permissionsPolicy,
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'X-Frame-Options': 'DENY',
      'Cache-Control': 'no-store',
    },
    body: new TextBody(text),
  };
}
