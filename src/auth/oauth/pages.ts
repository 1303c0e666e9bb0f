/** The pages that people see on their way to an application: plain HTML without scripts. */

import { type Html, html } from '../../http/pages/html.ts';
import type { Scope } from '../access.ts';
import { scopeDescriptions } from './scopes.ts';

/** Where a form goes, and the proof that it came from us. */
export interface Form {
  readonly action: string;
  readonly token: string;
}

/** The application that sent the person here. */
export interface ClientInfo {
  readonly name: string;
  /** Host that the person will be sent to. */
  readonly host: string;
}

export interface Consent {
  readonly asking: ClientInfo;
  readonly username: string;
  readonly scopes: readonly Scope[];
  /** admin was asked for, and waits for an operator. */
  readonly awaitsApproval: boolean;
}

function layout(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="/oauth/style.css">
</head>
<body>
<main>
<p class="mark" aria-hidden="true"><span></span><span></span><span></span></p>
${body}
</main>
</body>
</html>
`.text;
}

/** Asks for username and password. */
export function loginPage(
  form: Form,
  asking: ClientInfo,
  { username = '', fault = null }: { readonly username?: string; readonly fault?: string | null } = {},
): string {
  const message = fault === null ? null : html`<p class="fault" role="alert" id="fault">${fault}</p>`;
  const described = fault === null ? null : html` aria-describedby="fault" aria-invalid="true"`;
  return layout(
    `Log in to go on to ${asking.name}`,
    html`<h1>Log in</h1>
<p>to go on to <strong>${asking.name}</strong> <span class="host">${asking.host}</span></p>
${message}
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
<label for="username">Username</label>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="255"${described}${username === '' ? html` autofocus` : null}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${described}${username === '' ? null : html` autofocus`}>
<div class="choices"><button class="yes" name="do" value="login">Log in</button>
<button name="do" value="cancel" formnovalidate>Cancel</button></div>
</form>
<p class="small">Your password stays here: ${asking.name} never sees it.</p>`,
  );
}

/** Asks whether the application may have what it wants. */
export function consentPage(form: Form, { asking, username, scopes, awaitsApproval }: Consent): string {
  const items = scopes.map((scope) => html`<li>${scopeDescriptions[scope]}</li>\n`);
  const approval = awaitsApproval
    ? html`<p class="note" role="status">It has also asked to administer the shop. That needs the approval of an operator: the request is recorded. You can go on without it.</p>`
    : null;
  return layout(
    `May ${asking.name} do this?`,
    html`<h1>${asking.name} asks for your permission</h1>
<p>You are logged in as <strong>${username}</strong>. If you allow it, ${asking.name} will be able to:</p>
<ul>
${items}</ul>
${approval}
<p class="small">Then you are sent on to <span class="host">${asking.host}</span>.</p>
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
<div class="choices"><button class="yes" name="do" value="allow">Allow</button>
<button name="do" value="deny">Deny</button></div>
</form>
<p class="small">Not ${username}? <a href="/oauth/logout">Log out</a> and begin again.</p>`,
  );
}

/** @param form null where nobody is logged in */
export function logoutPage(form: Form | null, isDone: boolean): string {
  if (form === null) {
    const title = isDone ? 'You are logged out' : 'You are not logged in';
    return layout(
      title,
      html`<h1>${title}</h1>
<p>Applications that you have allowed keep their access until it ends. A new password ends it at once.</p>`,
    );
  }
  return layout(
    'Log out',
    html`<h1>Log out?</h1>
<p>You will be asked for your password the next time an application sends you here.</p>
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
<div class="choices"><button class="yes" name="do" value="logout">Log out</button></div>
</form>`,
  );
}

/** What went wrong, for a person; the code below is for whoever made the application. */
export function errorPage(error: string, description: string | undefined): string {
  return layout(
    'This did not work',
    html`<h1>This did not work</h1>
<p>${inWords[error] ?? 'The application sent you here with a request that cannot be answered.'}</p>
<p>Go back to the application and try again. If it happens again, tell the people who make it:</p>
<p class="code"><code>${error}</code>${description === undefined ? null : html`: ${description}`}</p>`,
  );
}

const inWords: Readonly<Record<string, string>> = {
  invalid_client: 'The application that sent you here is not known to this shop.',
  invalid_redirect_uri:
    'The application wants you to be sent to an address that it has not registered. We stopped here, for your safety.',
  session_not_found: 'This page was open for too long, or was opened in another browser.',
  forbidden: 'The form did not come from this page.',
  rate_limit_exceeded: 'Too much was tried from your connection. Wait a minute.',
  unavailable: 'The shop is busy right now.',
  server_error: 'Something went wrong on our side.',
};
