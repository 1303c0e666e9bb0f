/** What browsers request at the root of the server: the landing page, the icon, and rules for crawlers. */

import { objectOf } from '../../schema/parts.ts';
import type { Site } from '../area.ts';
import { Asset } from '../responses/asset.ts';
import { documentedText } from '../responses/error-responses.ts';
import { revalidated } from '../responses/etag.ts';
import { findQuality } from '../responses/quality-values.ts';
import { type RouteResponse, TextBody } from '../responses/response.ts';
import { type Route, route } from '../route.ts';
import { plainPage, plainPageHeaders } from './plain-page.ts';

const tag = 'Operation';
const links = { docs: '/docs', openapi: '/openapi.json', health: '/healthz' };

const Landing = {
  title: 'Landing',
  ...objectOf({
    name: { type: 'string' },
    environment: { type: 'string', enum: ['local', 'sandbox', 'production'] },
    version: { type: 'string', description: 'Version of the program' },
    api: { type: 'string', description: 'Path that the API is under' },
    docs: { type: 'string' },
    openapi: { type: 'string' },
    health: { type: 'string' },
    console: { type: ['string', 'null'], description: 'null where this server has none' },
  }),
  examples: [
    {
      name: 'Alpine Dairy',
      environment: 'production',
      version: '0.1.0',
      api: '/v2',
      ...links,
      console: null,
    },
  ],
} as const;

interface Dependencies {
  readonly site: () => Site;
  /** What this API is, as one sentence. */
  readonly text: string;
  readonly version: string;
  readonly environment: string;
  /** The path of the page for operators; null if there is none. */
  readonly console: string | null;
}

export function landingRoutes(dependencies: Dependencies): Route[] {
  const { site, environment, version, console } = dependencies;
  let shown:
    | { readonly name: string; readonly page: RouteResponse; readonly data: RouteResponse }
    | undefined;

  /** The responses, which change with the name alone. */
  function current() {
    const { name } = site();
    if (shown?.name !== name) {
      const facts = { name, environment, version, api: '/v2', ...links, console };
      shown = {
        name,
        page: landingPage(name, dependencies),
        data: revalidated(new Asset(JSON.stringify(facts))),
      };
    }
    return shown;
  }

  return [
    route({
      method: 'GET',
      path: '/',
      operationId: 'getLanding',
      tag,
      summary: 'The landing page',
      description: 'HTML for clients that accept `text/html`, JSON for all others.',
      access: 'operational',
      responses: {
        200: {
          description: 'Name, version and environment of this server, and links',
          schema: Landing,
          mediaTypes: ['text/html'],
        },
      },
      handle: ({ headers }) => current()[acceptsHtml(headers.accept) ? 'page' : 'data'],
    }),
    route({
      method: 'GET',
      path: '/favicon.ico',
      operationId: 'getIcon',
      tag,
      summary: 'The icon of the pages',
      description: 'An SVG, for browsers that show the pages of this server.',
      access: 'operational',
      mediaType: 'image/svg+xml',
      responses: { 200: documentedText('The icon as SVG', 'image/svg+xml') },
      handle: () => icon,
    }),
    route({
      method: 'GET',
      path: '/robots.txt',
      operationId: 'getRobots',
      tag,
      summary: 'Rules for crawlers: index nothing',
      description: 'Asks crawlers to index nothing (RFC 9309).',
      access: 'operational',
      mediaType: 'text/plain; charset=utf-8',
      responses: { 200: documentedText('The rules (RFC 9309)', 'text/plain') },
      handle: () => robots,
    }),
  ];
}

/** Browsers name text/html; many programs send only a wildcard. */
export function acceptsHtml(accept = ''): boolean {
  return (findQuality(accept, 'text/html') ?? 0) > 0;
}

const cachedForADay = { 'Cache-Control': 'public, max-age=86400' };

function landingPage(name: string, { text, version, environment, console }: Dependencies): RouteResponse {
  const page = plainPage({
    title: `${name} (${environment})`,
    heading: name,
    text: `${text} Version ${version}, environment ${environment}.`,
    links: [
      ...(console === null ? [] : [{ path: console, text: 'Console' }]),
      { path: links.docs, text: 'API reference' },
      { path: links.openapi, text: 'OpenAPI document' },
      { path: links.health, text: 'Health' },
    ],
  });
  return revalidated(new Asset(page), plainPageHeaders);
}

/** The policy counts when the icon is opened as a page: it runs no script and loads no file. */
const icon: RouteResponse = {
  status: 200,
  headers: { ...cachedForADay, 'Content-Security-Policy': "default-src 'none'; sandbox" },
  body: new TextBody(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path fill="#f2b544" d="M2 15 24 4c4 2 6 6 6 11z"/>
<path fill="#d98e04" d="M2 15h28v12H2z"/>
<g fill="#9a5b00"><circle cx="9" cy="21" r="3"/><circle cx="19" cy="19" r="2"/><circle cx="25" cy="23" r="2.5"/></g>
</svg>
`,
  ),
};

const robots: RouteResponse = {
  status: 200,
  headers: cachedForADay,
  body: new TextBody('User-agent: *\nDisallow: /\n'),
};
