/** The pages for login, consent, logout and errors: HTML without scripts. */

import type { Scope } from '../../../access/access.ts';
import type { Site } from '../../../http/area.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { layout } from '../../../http/pages/layout.ts';
import { scopeDescriptions } from '../scopes.ts';

/** The URL to which a form is submitted, and its CSRF token. */
export interface Form {
  readonly action: string;
  readonly token: string;
}

/** The application that sent the customer here. */
export interface ClientInfo {
  readonly name: string;
  /** Host of the redirect URI. */
  readonly host: string;
}

export interface Consent {
  readonly client: ClientInfo;
  readonly username: string;
  readonly scopes: readonly Scope[];
  /** Requested scopes that cannot be granted now, each with the reason. */
  readonly withheld: readonly { readonly scope: string; readonly reason: string }[];
}

/** Puts the title and content of a page into the layout with the name of the shop. */
export type PageLayout = (title: string, content: Html) => string;

/** The layout of all pages with forms. */
export function createPageLayout(site: () => Pick<Site, 'name'>): PageLayout {
  return (title, content) => {
    const { name } = site();
    return layout({
      title: `${title} - ${name}`,
      description: `${title}: a page of ${name}.`,
      head: html`<link rel="stylesheet" href="/oauth/style.css">`,
      body: html`<p class="shop"><span class="mark" aria-hidden="true"><span></span><span></span><span></span></span> ${name}</p>
${content}`,
    });
  };
}

/** The page on which a customer asks for a link to set a new password. */
export const forgotPasswordPath = '/oauth/forgot-password';

/** The form for username and password. */
export function loginPage(
  page: PageLayout,
  form: Form,
  client: ClientInfo,
  {
    username = '',
    error = null,
    registerPath = null,
    hasForgotPassword = false,
  }: {
    readonly username?: string;
    readonly error?: string | null;
    /** null if customers cannot register. */
    readonly registerPath?: string | null;
    /** Whether a customer can get a link for a new password by mail. */
    readonly hasForgotPassword?: boolean;
  } = {},
): string {
  const message = error === null ? null : html`<p class="fault" role="alert" id="fault">${error}</p>`;
  const describedBy = error === null ? null : html` aria-describedby="fault" aria-invalid="true"`;
  return page(
    `Log in to go on to ${client.name}`,
    html`<h1>Log in</h1>
<p>to go on to <strong>${client.name}</strong> <span class="host">${client.host}</span></p>
${message}
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
<label for="username">Username</label>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="255"${describedBy}${username === '' ? html` autofocus` : null}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${describedBy}${username === '' ? null : html` autofocus`}>
<div class="choices"><button class="yes" name="do" value="login">Log in</button>
<button name="do" value="cancel" formnovalidate>Cancel</button></div>
</form>
${hasForgotPassword ? html`<p><a href="${forgotPasswordPath}">Forgot your password?</a></p>\n` : null}${registerPath === null ? null : html`<p>New here? <a href="${registerPath}">Create an account</a></p>\n`}<p class="small">Your password stays here: ${client.name} never sees it.</p>`,
  );
}

/** The form that lists the requested scopes, to allow or to deny. */
export function consentPage(
  page: PageLayout,
  form: Form,
  { client, username, scopes, withheld }: Consent,
): string {
  const items = scopes.map((scope) => html`<li>${scopeDescriptions[scope]}</li>\n`);
  const refused = withheld.map(({ scope, reason }) => html`<li><code>${scope}</code>: ${reason}</li>\n`);
  const note =
    withheld.length === 0
      ? null
      : html`<div class="note" role="status">
<p>It has also requested what you cannot grant now. You can continue without it.</p>
<ul>
${refused}</ul>
</div>`;
  return page(
    `May ${client.name} do this?`,
    html`<h1>${client.name} asks for your permission</h1>
<p>You are logged in as <strong>${username}</strong>. If you allow it, ${client.name} will be able to:</p>
<ul>
${items}</ul>
${note}
<p class="small">Then you are sent on to <span class="host">${client.host}</span>.</p>
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
<div class="choices"><button class="yes" name="do" value="allow">Allow</button>
<button name="do" value="deny">Deny</button></div>
</form>
<p class="small">Not ${username}? <a href="/oauth/logout">Log out</a> and begin again.</p>`,
  );
}

/** @param form null when no customer is logged in */
export function logoutPage(page: PageLayout, form: Form | null, isDone: boolean): string {
  if (form === null) {
    const title = isDone ? 'You are logged out' : 'You are not logged in';
    return page(
      title,
      html`<h1>${title}</h1>
<p>Applications that you have allowed keep their access until it ends. A new password ends it at once.</p>`,
    );
  }
  return page(
    'Log out',
    html`<h1>Log out?</h1>
<p>You will be asked for your password the next time an application sends you here.</p>
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
<div class="choices"><button class="yes" name="do" value="logout">Log out</button></div>
</form>`,
  );
}

/** A text for the customer, and the error code for the developers of the application. */
export function oauthErrorPage(page: PageLayout, error: string, description: string | undefined): string {
  return page(
    'This did not work',
    html`<h1>This did not work</h1>
<p>${errorTexts[error] ?? 'The application sent you here with a request that cannot be answered.'}</p>
<p>Go back to the application and try again. If it happens again, tell the people who make it:</p>
<p class="code"><code>${error}</code>${description === undefined ? null : html`: ${description}`}</p>`,
  );
}

const errorTexts: Readonly<Record<string, string>> = {
  invalid_client: 'The application that sent you here is not known to this shop.',
  invalid_redirect_uri:
    'The application wants you to be sent to an address that it has not registered. We stopped here, for your safety.',
  session_not_found: 'This page was open for too long, or was opened in another browser.',
  forbidden: 'The form did not come from this page.',
  rate_limit_exceeded: 'Too much was tried from your connection. Wait a minute.',
  unavailable: 'The shop is busy right now.',
  server_error: 'Something went wrong on our side.',
};
