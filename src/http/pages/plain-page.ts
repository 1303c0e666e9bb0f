/** Pages of the server itself, with one inline style and the icon, without scripts and forms. */
import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';
import { layout } from './layout.ts';
import { contentSecurityPolicy, pageHeaders } from './send-page.ts';

const style = `
:root { color-scheme: light dark; --paper: #f6f1e7; --ink: #2b2418; --quiet: #6a5f4d; }
@media (prefers-color-scheme: dark) { :root { --paper: #17140f; --ink: #f3ecdf; --quiet: #b9ad99; } }
body { margin: 0 auto; max-width: 36rem; padding: 3rem 1.5rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
img { width: 4rem; height: 4rem; }
h1 { margin: 0.5rem 0 0; font-size: 1.75rem; line-height: 1.25; }
p { margin: 0.5rem 0 1.5rem; color: var(--quiet); overflow-wrap: anywhere; }
ul { margin: 0; padding: 0; list-style: none; }
a { display: block; padding: 0.6rem 0; color: inherit; }
:focus-visible { outline: 3px solid; outline-offset: 2px; }
`;

export const plainPageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': contentSecurityPolicy({
    style: `'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    formAction: "'none'",
  }),
  ...pageHeaders,
};

interface PlainPage {
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly links: readonly { readonly path: string; readonly text: string }[];
}

/** A whole page: a heading, a paragraph and links. */
export function plainPage({ title, heading, text, links }: PlainPage): string {
  return layout({
    title,
    description: text,
    head: html`<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<style>${new Html(style)}</style>`,
    body: html`<img src="/favicon.ico" alt="">
<h1>${heading}</h1>
<p>${text}</p>
<ul>
${links.map((link) => html`<li><a href="${link.path}">${link.text}</a></li>\n`)}</ul>`,
  });
}
