/** The page on which a customer registers on the way to an application. */
import type { FieldError } from '../../../errors.ts';
import { html } from '../../../http/pages/html.ts';
import type { ClientInfo, Form, PageLayout } from './pages.ts';

interface Input {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'email' | 'password';
  readonly autocomplete: string;
  readonly maxLength: number;
  readonly isRequired: boolean;
}

const inputs: readonly Input[] = [
  {
    name: 'username',
    label: 'Username',
    type: 'text',
    autocomplete: 'username',
    maxLength: 64,
    isRequired: true,
  },
  {
    name: 'email',
    label: 'E-mail address',
    type: 'email',
    autocomplete: 'email',
    maxLength: 254,
    isRequired: true,
  },
  {
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    maxLength: 1024,
    isRequired: true,
  },
  {
    name: 'firstName',
    label: 'First name (optional)',
    type: 'text',
    autocomplete: 'given-name',
    maxLength: 100,
    isRequired: false,
  },
  {
    name: 'lastName',
    label: 'Last name (optional)',
    type: 'text',
    autocomplete: 'family-name',
    maxLength: 100,
    isRequired: false,
  },
];

/** What a form sent, without inputs that are empty. */
export function parseRegistration(form: URLSearchParams): Record<string, string> {
  const fields = inputs.map(({ name }) => [name, form.get(name) ?? ''] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== ''));
}

/** Each error is shown at its field; one without a field at the top. The password is never sent back. */
export function registerPage(
  page: PageLayout,
  form: Form,
  client: ClientInfo,
  {
    values = {},
    errors = [],
    message = null,
    loginPath,
  }: {
    readonly values?: Readonly<Record<string, string>>;
    readonly errors?: readonly FieldError[];
    readonly message?: string | null;
    readonly loginPath: string;
  },
): string {
  const rows = inputs.map(({ name, label, type, autocomplete, maxLength, isRequired }) => {
    const error = errors.find(({ field }) => field === name);
    const value = type === 'password' ? '' : (values[name] ?? '');
    const state = error === undefined ? null : html` aria-describedby="${name}-fault" aria-invalid="true"`;
    const note =
      error === undefined
        ? null
        : html`<p class="fault" role="alert" id="${name}-fault">${label.replace(' (optional)', '')}: ${error.message}</p>\n`;
    return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false" maxlength="${maxLength}"${isRequired ? html` required` : null}${state}>
${note}`;
  });
  return page(
    `Register to go on to ${client.name}`,
    html`<h1>Create an account</h1>
<p>to go on to <strong>${client.name}</strong> <span class="host">${client.host}</span></p>
${message === null ? null : html`<p class="fault" role="alert">${message}</p>`}
<form method="post" action="${form.action}">
<input type="hidden" name="token" value="${form.token}">
${rows}<div class="choices"><button class="yes">Create the account</button></div>
</form>
<p class="small">You have an account? <a href="${loginPath}">Log in</a>. Your password stays here: ${client.name} never sees it.</p>`,
  );
}
