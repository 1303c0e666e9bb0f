/** The pages on which a customer sets a new password by a link: HTML without scripts. */
import { hash, hkdfSync } from 'node:crypto';
import { createPageRoute } from '../../auth/oauth/pages/page-route.ts';
import type { Form, PageLayout } from '../../auth/oauth/pages/pages.ts';
import { AppError, type FieldError } from '../../errors.ts';
import { createCsrfTokens } from '../../http/pages/csrf.ts';
import { readForm } from '../../http/pages/form.ts';
import { html } from '../../http/pages/html.ts';
import { redirectSeeOther, sendPage } from '../../http/pages/send-page.ts';
import type { RawRequest, RawRoute } from '../../http/raw-routes.ts';
import { documentedText } from '../../http/responses/error-responses.ts';
import type { CountClientIp } from '../../limits/client-ip-limits.ts';
import { validate } from '../../schema/validate.ts';
import type { CustomerAdministration } from '../administration.ts';
import { customerInput } from '../schemas.ts';

const path = '/oauth/password-reset/:token';
const donePath = '/oauth/password-changed';

const examples = { token: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' };
const errorPage = documentedText('A page with the error', 'text/html');
const ended = documentedText('The link is unknown, was used, or has expired', 'text/html');
const busy = { 429: errorPage, 503: errorPage };

const PasswordResetForm = {
  title: 'PasswordResetForm',
  type: 'object',
  required: ['token', 'password', 'repeated'],
  properties: {
    token: { type: 'string', description: 'CSRF token from the hidden field of the page' },
    password: { type: 'string', format: 'password' },
    repeated: { type: 'string', format: 'password', description: 'The password again' },
  },
  examples: [
    {
      token: '5fUO0vCzq9n3Yl2XwK7sT4mB8rD1eH6gA-jP_iQkRcE',
      password: 'a cellar full of wheels',
      repeated: 'a cellar full of wheels',
    },
  ],
} as const;

interface Dependencies {
  readonly administration: Pick<CustomerAdministration, 'findReset' | 'redeemReset'>;
  readonly page: PageLayout;
  readonly countClientIp: CountClientIp;
  readonly secret: string;
  /** Known when the server listens. */
  readonly issuer: () => string;
  readonly passwordLengthMin: number;
}

export function passwordResetPages(dependencies: Dependencies): RawRoute[] {
  const { administration, page, secret, issuer, passwordLengthMin } = dependencies;
  const formSecret = Buffer.from(hkdfSync('sha256', secret, '', 'password reset forms', 32)).toString('hex');
  const { password: passwordSchema } = customerInput(passwordLengthMin).properties;
  const schema = { type: 'object', required: ['password'], properties: { password: passwordSchema } };
  const pageRoute = createPageRoute(dependencies);
  const csrfTokens = () => createCsrfTokens(formSecret, issuer());
  const subjectOf = (token: string) => `password reset ${hash('sha256', token)}`;

  function formOf(token: string): Form {
    return { action: `/oauth/password-reset/${token}`, token: csrfTokens().tokenFor(subjectOf(token)) };
  }

  async function show({ response, params }: RawRequest): Promise<void> {
    const token = params.token ?? '';
    const username = await administration.findReset(token);
    if (username === null) {
      sendPage(response, 404, endedPage(page));
    } else {
      sendPage(response, 200, newPasswordPage(page, formOf(token), username, null));
    }
  }

  async function submit({ request, response, params, clientIp }: RawRequest): Promise<void> {
    const token = params.token ?? '';
    const form = await readForm(request);
    csrfTokens().require(request, form, subjectOf(token));
    const username = await administration.findReset(token);
    if (username === null) {
      sendPage(response, 404, endedPage(page));
      return;
    }
    const password = form.get('password') ?? '';
    const { errors } = validate(schema, { password });
    if (errors.length === 0 && password !== form.get('repeated')) {
      errors.push({ field: 'password', message: 'the two entries differ: enter the same password twice' });
    }
    try {
      if (errors.length > 0) {
        throw new AppError('validation', undefined, { errors });
      }
      await administration.redeemReset(token, password, clientIp);
      redirectSeeOther(response, donePath);
    } catch (error) {
      const code = error instanceof AppError ? error.code : null;
      if (code === 'notFound') {
        sendPage(response, 404, endedPage(page));
      } else if (code === 'validation') {
        const [first = null] = (error as AppError).errors;
        sendPage(response, 422, newPasswordPage(page, formOf(token), username, first));
      } else {
        throw error;
      }
    }
  }

  return [
    {
      ...pageRoute('GET', path, show, 'login'),
      acceptsClientIp: true,
      operationId: 'showPasswordReset',
      tag: 'OAuth',
      summary: 'The page to set a new password by a link',
      description: 'Showing it does not use the link up.',
      examples,
      responses: { 200: documentedText('The form', 'text/html'), 400: errorPage, 404: ended, ...busy },
    },
    {
      ...pageRoute('POST', path, submit),
      acceptsClientIp: true,
      operationId: 'submitPasswordReset',
      tag: 'OAuth',
      summary: 'The form to set a new password',
      description: 'The link works once, for 30 minutes. All sessions and tokens of the customer end.',
      examples,
      body: PasswordResetForm,
      responses: {
        303: { description: 'To a page that confirms it' },
        400: errorPage,
        403: errorPage,
        404: ended,
        413: errorPage,
        415: errorPage,
        422: documentedText('The form with the error', 'text/html'),
        ...busy,
      },
    },
    {
      ...pageRoute('GET', donePath, async ({ response }) => sendPage(response, 200, donePage(page))),
      operationId: 'showPasswordChanged',
      tag: 'OAuth',
      summary: 'The page after a new password was set',
      description: 'The form for a new password leads here.',
      responses: { 200: documentedText('The page', 'text/html'), ...busy },
    },
  ];
}

function newPasswordPage(page: PageLayout, form: Form, username: string, error: FieldError | null): string {
  const message =
    error === null
      ? null
      : html`<p class="fault" role="alert" id="fault">New password: ${error.message}.</p>`;
  const describedBy = error === null ? null : html` aria-describedby="fault" aria-invalid="true"`;
  return page(
    'Choose a new password',
    html`<h1>Choose a new password</h1>
<p>for <strong>${username}</strong></p>
${message}
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required maxlength="1024" autofocus${describedBy}>
<label for="repeated">The same password again</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required maxlength="1024">
<div class="choices"><button class="yes">Set the password</button></div>
</form>
<p class="small">You will be logged out everywhere, and applications lose their access.</p>`,
  );
}

function endedPage(page: PageLayout): string {
  return page(
    'This link does not work',
    html`<h1>This link does not work</h1>
<p>It was used already, it is older than 30 minutes, a newer link has replaced it, or the password was changed.</p>
<p>Ask the shop for a new link.</p>`,
  );
}

function donePage(page: PageLayout): string {
  return page(
    'Your password is changed',
    html`<h1>Your password is changed</h1>
<p>You were logged out everywhere. Log in with the new password.</p>`,
  );
}
