/** What a browser asks for at the root of the server: a page, an icon, and rules for crawlers. */
import { createHash } from 'node:crypto';
import { Asset } from '../asset.ts';
import { text } from '../error-responses.ts';
import { revalidated } from '../etag.ts';
import { qualityOf } from '../quality-values.ts';
import { type RouteResponse, TextBody } from '../response.ts';
import { type Route, route } from '../route.ts';
import { Html, html } from './html.ts';

const tag = 'Operation';
const name = 'Curd';
const links = { docs: '/docs', openapi: '/openapi.json', health: '/healthz' };

const Landing = {
  title: 'Landing',
  type: 'object',
  required: ['name', 'version', 'environment', 'api', 'docs', 'openapi', 'health'],
  properties: {
    name: { type: 'string' },
    version: { type: 'string', description: 'Of the program' },
    environment: { type: 'string', enum: ['local', 'sandbox', 'production'] },
    api: { type: 'string', description: 'Path that the API is under' },
    docs: { type: 'string' },
    openapi: { type: 'string' },
    health: { type: 'string' },
  },
  examples: [{ name, version: '0.1.0', environment: 'production', api: '/v2', ...links }],
} as const;

interface Dependencies {
  readonly version: string;
  readonly environment: string;
}

export function landingRoutes(dependencies: Dependencies): Route[] {
  const page = landingPage(dependencies);
  const { version, environment } = dependencies;
  const data = revalidated(new Asset(JSON.stringify({ name, version, environment, api: '/v2', ...links })));
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
          description: 'What this server is, and where to go from here',
          schema: Landing,
          mediaTypes: ['text/html'],
        },
      },
      handle: ({ headers }) => (acceptsHtml(headers.accept) ? page : data),
    }),
    route({
      method: 'GET',
      path: '/favicon.ico',
      operationId: 'getIcon',
      tag,
      summary: 'The icon of the pages',
      access: 'operational',
      mediaType: 'image/svg+xml',
      responses: { 200: text('An SVG image', 'image/svg+xml') },
      handle: () => icon,
    }),
    route({
      method: 'GET',
      path: '/robots.txt',
      operationId: 'getRobots',
      tag,
      summary: 'Rules for crawlers: index nothing',
      access: 'operational',
      mediaType: 'text/plain; charset=utf-8',
      responses: { 200: text('The rules (RFC 9309)', 'text/plain') },
      handle: () => robots,
    }),
  ];
}

/** Browsers name text/html; many programs send nothing but a wildcard. */
function acceptsHtml(accept = ''): boolean {
  return (qualityOf(accept, 'text/html') ?? 0) > 0;
}

const keptForADay = { 'Cache-Control': 'public, max-age=86400' };

const style = `
:root { color-scheme: light dark; --paper: #f6f1e7; --ink: #2b2418; --quiet: #6a5f4d; }
@media (prefers-color-scheme: dark) { :root { --paper: #17140f; --ink: #f3ecdf; --quiet: #b9ad99; } }
body { margin: 0 auto; max-width: 36rem; padding: 3rem 1.5rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
img { width: 4rem; height: 4rem; }
h1 { margin: 0.5rem 0 0; font-size: 1.75rem; line-height: 1.25; }
p { margin: 0.5rem 0 1.5rem; color: var(--quiet); }
ul { margin: 0; padding: 0; list-style: none; }
a { display: block; padding: 0.6rem 0; color: inherit; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
`;

/** No script, no frame, no form: one style, and the icon. */
const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "img-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
};

function landingPage({ version, environment }: Dependencies): RouteResponse {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${name} (${environment})</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<style>${new Html(style)}</style>
</head>
<body>
<main>
<img src="/favicon.ico" alt="">
<h1>${name}</h1>
<p>The API of a cheese shop. Version ${version}, environment ${environment}.</p>
<ul>
<li><a href="${links.docs}">API reference</a></li>
<li><a href="${links.openapi}">OpenAPI document</a></li>
<li><a href="${links.health}">Health</a></li>
</ul>
</main>
</body>
</html>
`;
  return revalidated(new Asset(page.text), pageHeaders);
}

/** A wedge of cheese. Opened by itself, it runs nothing and loads nothing. */
const icon: RouteResponse = {
  status: 200,
  headers: { ...keptForADay, 'Content-Security-Policy': "default-src 'none'; sandbox" },
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
  headers: keptForADay,
  body: new TextBody('User-agent: *\nDisallow: /\n'),
};
