/** Schemas of the endpoints of the authorization server. */
import type { Schema } from '../../../schema/schema.ts';

/** Any text. */
export const string = { type: 'string' } as const;
/** An absolute URL. */
export const url = { type: 'string', format: 'uri' } as const;
const strings = { type: 'array', items: string } as const;
/** The id of an application. */
export const clientId = {
  ...string,
  description: 'Id of the application',
  examples: ['4f5d6c1e9a7b4c3d8e2f1a0b9c8d7e6f'],
};
const scope = {
  ...string,
  description: 'Separated by spaces',
  examples: ['read:cheeses read:orders'],
} as const;
const exampleToken = 'mF_9.B5f-4.1JqM_aZ8kQ2xR7tY0wE3uI6oP1sD4gH5';

/** The error body of the endpoints for programs. */
export const OauthError = {
  title: 'OauthError',
  description: 'The error members of RFC 6749, section 5.2, and those of this API',
  type: 'object',
  required: ['error', 'error_description', 'code', 'type', 'message'],
  properties: {
    error: string,
    error_description: string,
    scope: { ...string, description: 'With invalid_scope: the refused scopes' },
    code: { type: 'integer', description: 'The HTTP status' },
    type: { ...string, description: 'Kind of the error, stable for programs' },
    message: { ...string, description: 'The same as error_description' },
  },
  examples: [
    {
      error: 'invalid_grant',
      error_description: 'grant request is invalid',
      code: 400,
      type: 'bad_request',
      message: 'grant request is invalid',
    },
  ],
} as const satisfies Schema;

/** An issued token. */
export const TokenResult = {
  title: 'TokenResult',
  type: 'object',
  required: ['access_token', 'token_type', 'expires_in', 'scope'],
  properties: {
    access_token: { ...string, description: 'Send it as Authorization: Bearer <token>' },
    token_type: { ...string, enum: ['Bearer'] },
    expires_in: { type: 'integer', description: 'In seconds' },
    refresh_token: { ...string, description: 'Only of the authorization code flow; can be used once' },
    scope,
  },
  examples: [
    {
      access_token: exampleToken,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: 'tGzv3JOkF0XG5Qx2TlKWIA8hN4bV7cM1zL9yU6eR3wQ',
      scope: 'read:cheeses read:orders',
    },
  ],
} as const satisfies Schema;

/** The state of a token. */
export const Introspection = {
  title: 'Introspection',
  description:
    'RFC 7662. Only `active` for a token that has ended, is unknown or belongs to another application',
  type: 'object',
  required: ['active'],
  properties: {
    active: { type: 'boolean' },
    client_id: clientId,
    scope,
    sub: { ...string, description: 'Id of the customer' },
    aud: { ...url, description: 'The resource that accepts the token; absent for the API' },
    iss: url,
    exp: { type: 'integer', description: 'Time of expiry, in seconds since 1970' },
    iat: { type: 'integer', description: 'Time of issue, in seconds since 1970' },
    token_type: string,
  },
  additionalProperties: true,
  examples: [
    {
      active: true,
      client_id: clientId.examples[0],
      scope: 'read:cheeses',
      sub: '7',
      iss: 'https://cheese.example',
      exp: 1_795_222_800,
      iat: 1_795_219_200,
      token_type: 'Bearer',
    },
  ],
} as const satisfies Schema;

const endpoints = Object.fromEntries(
  ['authorization', 'token', 'revocation', 'introspection'].map((name) => [`${name}_endpoint`, url]),
);
const lists = [
  'scopes_supported',
  'response_types_supported',
  'response_modes_supported',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint_auth_methods_supported',
  'introspection_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
];

/** The metadata of the authorization server (RFC 8414). */
export const AuthorizationServer: Schema = {
  title: 'AuthorizationServer',
  type: 'object',
  required: ['issuer', ...Object.keys(endpoints), ...lists],
  properties: {
    issuer: url,
    ...endpoints,
    ...Object.fromEntries(lists.map((name) => [name, strings])),
    authorization_response_iss_parameter_supported: { type: 'boolean' },
    service_documentation: url,
  },
};

const credentials = {
  client_id: {
    ...clientId,
    description: 'Id of the application, here or as username of HTTP Basic authentication',
  },
  client_secret: {
    ...string,
    format: 'password',
    description: 'Secret of a confidential application, here or as password of HTTP Basic authentication',
  },
} as const;
const token = { ...string, description: 'An access token or a refresh token' } as const;
/** The request to introspect or revoke a token. */
export const tokenLookup = (title: string): Schema => ({
  title,
  type: 'object',
  required: ['token'],
  properties: { token, token_type_hint: string, ...credentials },
  examples: [{ token: exampleToken, client_id: clientId.examples[0] ?? '' }],
});

/** The request for a token. */
export const TokenRequest: Schema = {
  title: 'TokenRequest',
  type: 'object',
  required: ['grant_type'],
  properties: {
    grant_type: { ...string, enum: ['authorization_code', 'refresh_token', 'client_credentials'] },
    code: { ...string, description: 'With authorization_code' },
    redirect_uri: { ...url, description: 'With authorization_code: the value of the authorization request' },
    code_verifier: { ...string, description: 'With authorization_code (RFC 7636)' },
    refresh_token: { ...string, description: 'With refresh_token' },
    scope: { ...scope, description: 'With client_credentials or refresh_token, separated by spaces' },
    resource: {
      ...url,
      description: 'The URL of the MCP endpoint, for a token that is accepted there alone (RFC 8707)',
    },
    ...credentials,
  },
  examples: [
    {
      grant_type: 'authorization_code',
      code: 'SplxlOBeZQQYbYS6WxSbIA3mK9vT2nR5pL8dF1gH4jC',
      redirect_uri: 'https://diary.example/callback',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      client_id: clientId.examples[0],
    },
  ],
};
