/** The page on which a customer asks for a link to set a new password: HTML without scripts. */
import { hkdfSync } from 'node:crypto';
import { createPageRoute } from '../../auth/oauth/pages/page-route.ts';
import { forgotPasswordPath, type PageLayout } from '../../auth/oauth/pages/pages.ts';
import { createCsrfTokens } from '../../http/pages/csrf.ts';
import { readForm } from '../../http/pages/form.ts';
import { html } from '../../http/pages/html.ts';
import { sendPage } from '../../http/pages/send-page.ts';
import type { RawRequest, RawRoute } from '../../http/raw-routes.ts';
import { documentedText } from '../../http/responses/error-responses.ts';
import type { CountClientIp } from '../../limits/client-ip-limits.ts';
import type { ResetRequests } from './reset-requests.ts';

const loginLengthMax = 254;
const subject = 'forgotten password';

interface Dependencies {
  readonly resets: Pick<ResetRequests, 'isOn' | 'request'>;
  readonly page: PageLayout;
  readonly countClientIp: CountClientIp;
  readonly secret: string;
  /** Known when the server listens. */
  readonly issuer: () => string;
}

export function forgotPasswordPages(dependencies: Dependencies): RawRoute[] {
  const { resets, page, secret, issuer } = dependencies;
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'forgotten password forms', 32)).toString('hex');
  const pageRoute = createPageRoute(dependencies);
  const csrfTokens = () => createCsrfTokens(key, issuer());

  async function show({ response }: RawRequest): Promise<void> {
    if (resets.isOn) {
      sendPage(response, 200, formPage(page, csrfTokens().tokenFor(subject), false));
    } else {
      sendPage(response, 404, offPage(page));
    }
  }

  async function submit({ request, response, clientIp }: RawRequest): Promise<void> {
    const form = await readForm(request);
    csrfTokens().require(request, form, subject);
    const login = (form.get('login') ?? '').trim();
    if (!resets.isOn) {
      sendPage(response, 404, offPage(page));
    } else if (login === '' || login.length > loginLengthMax) {
      sendPage(response, 422, formPage(page, csrfTokens().tokenFor(subject), true));
    } else {
      await resets.request({ email: login, username: login }, clientIp);
      sendPage(response, 200, sentPage(page));
    }
  }

  const errorPage = documentedText('A page with the error', 'text/html');
  const off = documentedText('The shop sends no mails', 'text/html');
  const busy = { 429: errorPage, 503: errorPage };
  return [
    {
      ...pageRoute('GET', forgotPasswordPath, show),
      operationId: 'showForgotPassword',
      tag: 'OAuth',
      summary: 'The page to ask for a link to set a new password',
      description: 'The login page leads here, where the shop sends mails.',
      responses: { 200: documentedText('The form', 'text/html'), 404: off, ...busy },
    },
    {
      ...pageRoute('POST', forgotPasswordPath, submit),
      acceptsClientIp: true,
      operationId: 'submitForgotPassword',
      tag: 'OAuth',
      summary: 'The form to ask for a link to set a new password',
      description: 'The page is the same whether the customer exists or not.',
      body: {
        title: 'ForgotPasswordForm',
        type: 'object',
        required: ['token', 'login'],
        properties: {
          token: { type: 'string', description: 'CSRF token from the hidden field of the page' },
          login: { type: 'string', description: 'Username or e-mail address' },
        },
        examples: [{ token: '5fUO0vCzq9n3Yl2XwK7sT4mB8rD1eH6gA-jP_iQkRcE', login: 'ada@example.com' }],
      },
      responses: {
        200: documentedText('The page that says what happens next', 'text/html'),
        400: errorPage,
        403: errorPage,
        404: off,
        413: errorPage,
        415: errorPage,
        422: documentedText('The form with the error', 'text/html'),
        ...busy,
      },
    },
  ];
}

function formPage(page: PageLayout, token: string, isWrong: boolean): string {
  const message = isWrong
    ? html`<p class="fault" role="alert" id="fault">Enter your username or your e-mail address.</p>`
    : null;
  const describedBy = isWrong ? html` aria-describedby="fault" aria-invalid="true"` : null;
  return page(
    'Forgot your password?',
    html`<h1>Forgot your password?</h1>
<p>Enter your username or your e-mail address. We send you a link with which you can choose a new password.</p>
${message}
<form method="post" action="${forgotPasswordPath}">
<input type="hidden" name="token" value="${token}">
<label for="login">Username or e-mail address</label>
<input id="login" name="login" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus${describedBy}>
<div class="choices"><button class="yes">Send the link</button></div>
</form>`,
  );
}

function sentPage(page: PageLayout): string {
  return page(
    'Look at your mails',
    html`<h1>Look at your mails</h1>
<p>If this account exists, a mail is on its way. The link in it works for 30 minutes.</p>
<p class="small">No mail after a few minutes? Look in the folder for spam, or try again with the other name: username or e-mail address.</p>`,
  );
}

function offPage(page: PageLayout): string {
  return page(
    'This shop sends no mails',
    html`<h1>This shop sends no mails</h1>
<p>Ask the shop for a link with which you can choose a new password.</p>`,
  );
}
