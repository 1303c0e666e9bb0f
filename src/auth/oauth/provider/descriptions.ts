/** Descriptions of the endpoints of the authorization server for the OpenAPI document. */

import { scopes } from '../../../access/access.ts';
import type { RawDescription, RawRoute } from '../../../http/raw-routes.ts';
import { documentedText } from '../../../http/responses/error-responses.ts';
import type { DocumentedResponses } from '../../../http/responses/response.ts';
import type { Schema } from '../../../schema/schema.ts';
import {
  clientId,
  Introspection,
  OauthError,
  string,
  TokenRequest,
  TokenResult,
  tokenLookup,
  url,
} from './schemas.ts';

const tag = 'OAuth';
const page = (description: string) => documentedText(description, 'text/html');
const errorPage = page('A page with the error');
const failed = (description: string) => ({ description, schema: OauthError });
const seeOther: DocumentedResponses = {
  303: { description: 'To the next page, or to the application' },
};
const busyErrors: DocumentedResponses = { 429: errorPage, 503: errorPage };
const pageErrors: DocumentedResponses = { 400: errorPage, ...busyErrors };
const formErrors: DocumentedResponses = { ...pageErrors, 403: errorPage, 413: errorPage, 415: errorPage };
const programResponses = (status: number, success: DocumentedResponses[number]): DocumentedResponses => ({
  [status]: success,
  400: failed('The request is not valid'),
  401: failed('The application did not authenticate'),
  429: failed('Too many requests: wait as long as Retry-After says'),
  503: failed('The database is busy: wait as long as Retry-After says'),
});

const authorization = {
  tag,
  query: {
    response_type: { ...string, isRequired: true, enum: ['code', 'token'] },
    client_id: { ...clientId, isRequired: true },
    redirect_uri: { ...url, description: 'One that the application registered' },
    scope: { ...string, description: `Separated by spaces, of ${scopes.join(', ')}` },
    state: { ...string, description: 'Returned to the application unchanged' },
    resource: {
      ...url,
      description: 'The URL of the MCP endpoint, for a token that is accepted there alone (RFC 8707)',
    },
    code_challenge: { ...string, description: 'Required with response_type=code (RFC 7636)' },
    code_challenge_method: { ...string, enum: ['S256'] },
  },
  examples: { response_type: 'code', client_id: clientId.examples[0] ?? '' },
} as const;
const uid = { uid: 'kQ3vX1pS0Zr8tY6wB2nJd' } as const;
const csrfToken = { ...string, description: 'CSRF token from the hidden field of the page' } as const;
const form = (title: string, fields: Readonly<Record<string, Schema>>, values: object): Schema => ({
  title,
  type: 'object',
  required: ['token'],
  properties: { token: csrfToken, ...fields },
  examples: [{ token: '5fUO0vCzq9n3Yl2XwK7sT4mB8rD1eH6gA-jP_iQkRcE', ...values }],
});

/** Keys are method and path. An alias under /v2 has the same description. */
const table: Readonly<Record<string, RawDescription>> = {
  'GET /oauth/authorize': {
    ...authorization,
    operationId: 'authorize',
    summary: 'Ask a customer for consent',
    description: 'An application sends the browser of a customer here (RFC 6749, section 3.1).',
    responses: { ...seeOther, ...pageErrors },
  },
  'GET /v2/oauth/authorize': {
    ...authorization,
    operationId: 'authorizeAlias',
    summary: 'Redirect to /oauth/authorize',
    description: 'An alias under the path of the API, with the same query.',
    responses: { 302: { description: 'To /oauth/authorize with the same query' }, 429: errorPage },
  },
  'GET /oauth/authorize/:uid': {
    operationId: 'resumeAuthorization',
    tag,
    summary: 'Continue after login or consent',
    description: 'The pages for login and consent lead here. Programs do not call it.',
    examples: uid,
    responses: { ...seeOther, ...pageErrors },
  },
  'POST /oauth/token': {
    operationId: 'issueToken',
    tag,
    summary: 'Get an access token',
    description: 'RFC 6749, section 3.2.',
    body: TokenRequest,
    responses: programResponses(200, { description: 'The token', schema: TokenResult }),
  },
  'POST /oauth/revoke': {
    operationId: 'revokeToken',
    tag,
    summary: 'Revoke a token',
    description: 'RFC 7009, section 2. Also succeeds for an unknown token.',
    body: tokenLookup('RevocationRequest'),
    responses: programResponses(200, { description: 'The token was revoked' }),
  },
  'POST /oauth/introspect': {
    operationId: 'introspectToken',
    tag,
    summary: 'Look up a token',
    description: 'RFC 7662, section 2. An application can look up its own tokens.',
    body: tokenLookup('IntrospectionRequest'),
    responses: programResponses(200, { description: 'The state of the token', schema: Introspection }),
  },
  'GET /oauth/interaction/:uid': {
    operationId: 'showInteraction',
    tag,
    summary: 'The page for login or consent',
    description: 'The browser of the customer is sent here by GET /oauth/authorize. Programs do not call it.',
    examples: uid,
    responses: { 200: page('The page'), ...seeOther, ...pageErrors },
  },
  'POST /oauth/interaction/:uid/login': {
    operationId: 'submitLogin',
    tag,
    summary: 'The form for login',
    description: 'The page for login sends it. Programs use POST /v2/customer/login.',
    examples: uid,
    body: form(
      'LoginForm',
      {
        username: string,
        password: { ...string, format: 'password' },
        do: { ...string, enum: ['login', 'cancel'] },
      },
      { username: 'ada', password: 'a cellar full of wheels', do: 'login' },
    ),
    responses: {
      ...seeOther,
      ...formErrors,
      422: page('The page with the error: username or password is wrong'),
    },
  },
  'GET /oauth/interaction/:uid/register': {
    operationId: 'showRegistration',
    tag,
    summary: 'The page for registration',
    description: 'Only where anyone may register (`CURD_REGISTRATION=open`).',
    examples: uid,
    responses: { 200: page('The page'), ...pageErrors },
  },
  'POST /oauth/interaction/:uid/register': {
    operationId: 'submitRegistration',
    tag,
    summary: 'The form for registration',
    description: 'The rules of `POST /customer`. The customer is logged in then.',
    examples: uid,
    body: form(
      'RegistrationForm',
      {
        username: string,
        email: string,
        password: { ...string, format: 'password' },
        firstName: string,
        lastName: string,
      },
      { username: 'ada', email: 'ada@example.com', password: 'a cellar full of wheels', firstName: 'Ada' },
    ),
    responses: {
      ...seeOther,
      ...formErrors,
      409: page('The page with the error: the username or the e-mail address is taken'),
      422: page('The page with an error at each field that is not valid'),
    },
  },
  'POST /oauth/interaction/:uid/consent': {
    operationId: 'submitConsent',
    tag,
    summary: 'The form for consent',
    description: 'The page for consent sends it. Programs do not call it.',
    examples: uid,
    body: form('ConsentForm', { do: { ...string, enum: ['allow', 'deny'] } }, { do: 'allow' }),
    responses: { ...seeOther, ...formErrors },
  },
  'GET /oauth/logout': {
    operationId: 'showLogout',
    tag,
    summary: 'The page for logout',
    description: 'Asks the customer whether to end the browser session.',
    responses: { 200: page('The page'), ...busyErrors },
  },
  'POST /oauth/logout': {
    operationId: 'submitLogout',
    tag,
    summary: 'The form for logout',
    description: 'Ends the browser session of the customer on this server.',
    body: form('LogoutForm', { do: { ...string, enum: ['logout'] } }, { do: 'logout' }),
    responses: { 200: page('A page that confirms the logout'), ...formErrors },
  },
};

/** Adds the description of each endpoint. */
export function withDescriptions(routes: readonly Omit<RawRoute, keyof RawDescription>[]): RawRoute[] {
  return routes.map((route) => {
    const { method, path } = route;
    const description = table[`${method} ${path}`] ?? aliasOf(table[`${method} ${path.replace('/v2', '')}`]);
    if (description === undefined) {
      throw new Error(`${method} ${path} has no description`);
    }
    return { ...description, ...route };
  });
}

function aliasOf(description: RawDescription | undefined): RawDescription | undefined {
  return description && { ...description, operationId: `${description.operationId}Alias` };
}
