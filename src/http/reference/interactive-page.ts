/** The page that sends requests and its script, from a package that is loaded when the page is first requested. */
import Fastify from 'fastify';
import { Asset } from '../responses/asset.ts';
import { revalidated } from '../responses/etag.ts';
import type { RouteResponse } from '../responses/response.ts';

/** The path of the script, without its version. */
export const interactiveScriptPath = '/docs/js/scalar.js';

export interface InteractivePage {
  readonly page: RouteResponse;
  readonly script: Asset;
}

/** The package includes scripts and styles in the page. Everything that they load comes from this server. */
const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
};

/** The colors and the logo of the other pages. Text on every background has a contrast of 4.5 or more. */
const customCss = `
.light-mode {
  --scalar-background-1: #fffdf8; --scalar-background-2: #f6f1e7; --scalar-background-3: #ebe3d3;
  --scalar-background-accent: #9a5b0014; --scalar-color-accent: #8a5200;
  --scalar-color-1: #2b2418; --scalar-color-2: #5c5242; --scalar-color-3: #6a5f4d; --scalar-border-color: #e0d6c3;
}
.dark-mode {
  --scalar-background-1: #17140f; --scalar-background-2: #221e17; --scalar-background-3: #2e281f;
  --scalar-background-accent: #f2b54418; --scalar-color-accent: #f2b544;
  --scalar-color-1: #f3ecdf; --scalar-color-2: #cabfab; --scalar-color-3: #b9ad99; --scalar-border-color: #3a3328;
}
.light-mode .t-doc__sidebar, .light-mode .sidebar {
  --scalar-sidebar-background-1: #f6f1e7; --scalar-sidebar-item-hover-background: #ebe3d3;
  --scalar-sidebar-item-active-background: #ebe3d3; --scalar-sidebar-border-color: #e0d6c3;
}
.dark-mode .t-doc__sidebar, .dark-mode .sidebar {
  --scalar-sidebar-background-1: #1c1812; --scalar-sidebar-item-hover-background: #2e281f;
  --scalar-sidebar-item-active-background: #2e281f; --scalar-sidebar-border-color: #3a3328;
}
.introduction-section .section-header-label::before {
  content: ""; display: inline-block; width: 1.1em; height: 1.1em; margin-right: 0.35em;
  vertical-align: -0.12em; background: url(/favicon.ico) center / contain no-repeat;
}
/* A link to a section moves the focus there. */
.section:focus-visible { outline: none }
/* The button for the list of operations covers the URL of the request on a phone. */
@media (width < 768px) { .scalar-container .scalar-sidebar-toggle { display: none } }
`;

const description = 'Send requests to this server, with every operation of its API.';

/** The package shows this in empty inputs for credentials, where it looks like a key that is already there. */
const keyLikePlaceholder = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT';

/** Returns a function that loads the page once. The package takes 0.2 s and 20 MB, so a start does not load it. */
export function createInteractivePage(): () => Promise<InteractivePage> {
  let loaded: Promise<InteractivePage> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

async function load(): Promise<InteractivePage> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const pages = Fastify();
  await pages.register(reference, {
    routePrefix: '/docs',
    // The page loads nothing from other servers: no fonts, no telemetry, no services of the package's maker.
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Curd API',
      favicon: '/favicon.ico',
      theme: 'none',
      withDefaultFonts: false,
      telemetry: false,
      authentication: { preferredSecurityScheme: 'apiKey' },
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      customCss,
    },
  });
  const [page, code] = await Promise.all([pages.inject('/docs/'), pages.inject(interactiveScriptPath)]);
  await pages.close();
  // The package has no options for these.
  const script = new Asset(code.payload.replaceAll(keyLikePlaceholder, 'Key or token'));
  const html = page.payload
    .replace('<html>', '<html lang="en">')
    .replace('<head>', `<head><meta name="description" content="${description}">`)
    .replace('src="js/scalar.js"', `src="${interactiveScriptPath}?v=${script.version}"`)
    .replaceAll(keyLikePlaceholder, 'Key or token');
  return { page: revalidated(new Asset(html), pageHeaders), script };
}
