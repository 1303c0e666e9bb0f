/** Schemas of customers and logins. */

import type { XStatic } from 'typebox/schema';
import { Cheese } from '../cheeses/schemas.ts';
import { caseFold } from '../schema/case-fold.ts';
import { int64, timestampSchema } from '../schema/parts.ts';
import type { TextRule } from '../schema/schema.ts';
import {
  anyTextRule,
  emailRule,
  lineRule,
  optionalLineRule,
  trimBlanks,
  withoutUrl,
} from '../schema/text-rules.ts';
import { tiers } from './tiers.ts';

/** Path segments of other routes: a profile under such a username could not be reached. */
const reservedUsernames = ['login', 'logout', 'createmultiple', 'password-reset', '.', '..'];

/**
 * Visible characters except slashes. A variation selector may follow a character, and a joiner may be between two
 * characters: emoji, Persian and several Indic scripts need them.
 */
const usernameText =
  /^(?:[^/\\\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800][\ufe0e\ufe0f]?(?:\p{Join_Control}(?!$))?)+$/u;

const passwordBytesMax = 1024;

export const usernameRule: TextRule = {
  clean: trimBlanks,
  test: (text) => usernameText.test(text) && !reservedUsernames.includes(caseFold(text)),
  message:
    'must have no blanks, slashes, backslashes or invisible characters (joiners between two characters are allowed), and be none of login, logout, createMultiple, password-reset, . and ..',
};

export const passwordRule: TextRule = {
  test: (text) => Buffer.byteLength(text) <= passwordBytesMax,
  message: `must have at most ${passwordBytesMax} bytes in UTF-8`,
};

const cheeseName = { type: 'string', minLength: 1, maxLength: 255, rule: lineRule } as const;
const personName = { type: 'string', maxLength: 100, rule: withoutUrl(optionalLineRule) } as const;
const tierText = {
  type: 'string',
  enum: tiers,
  description: 'Rises with the total of delivered orders',
} as const;

const examplePassword = 'a cellar full of wheels';

const username = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  rule: usernameRule,
  description: 'Unique regardless of case and width of its letters; may be an e-mail address',
  examples: ['ada'],
} as const;
const email = {
  type: 'string',
  maxLength: 254,
  format: 'email',
  rule: emailRule,
  description: 'Unique regardless of case',
  examples: ['ada@example.com'],
} as const;
const phone = {
  type: ['string', 'null'],
  maxLength: 32,
  rule: optionalLineRule,
  examples: ['+41 31 000 00 00'],
} as const;

export const Customer = {
  title: 'Customer',
  type: 'object',
  required: ['id', 'username', 'firstName', 'lastName', 'email', 'phone', 'customerStatus', 'createdAt'],
  properties: {
    id: int64,
    username: { type: 'string' },
    firstName: { type: 'string' },
    lastName: { type: 'string' },
    email: { type: 'string', format: 'email' },
    phone: { type: ['string', 'null'] },
    customerStatus: tierText,
    favouriteCheese: {
      description: 'A cheese of the catalogue, or only a name; absent when there is none',
      anyOf: [Cheese, { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }],
    },
    createdAt: timestampSchema,
  },
  examples: [
    {
      id: 7,
      username: 'ada',
      firstName: 'Ada',
      lastName: 'Keller',
      email: 'ada@example.com',
      phone: '+41 31 000 00 00',
      customerStatus: 'silver',
      favouriteCheese: { name: 'Gruyère' },
      createdAt: '2026-01-15T09:30:00.000Z',
    },
  ],
} as const;

/** The body that registers a customer or replaces a profile. @param passwordLengthMin in characters */
export function customerInput(passwordLengthMin: number) {
  return {
    title: 'CustomerInput',
    type: 'object',
    required: ['username', 'email', 'password'],
    properties: {
      id: { ...int64, readOnly: true },
      username,
      firstName: personName,
      lastName: personName,
      email,
      password: {
        type: 'string',
        minLength: passwordLengthMin,
        format: 'password',
        rule: passwordRule,
        description:
          'At most 1,024 bytes in UTF-8; never shown again. Sandbox and production refuse the most common passwords',
      },
      phone,
      favouriteCheese: {
        type: 'object',
        minProperties: 1,
        description: 'A cheese of the catalogue by its id, or any cheese by its name',
        properties: { id: int64, name: cheeseName },
      },
      customerStatus: { ...tierText, readOnly: true },
      createdAt: { ...timestampSchema, readOnly: true },
    },
    examples: [{ username: 'ada', email: 'ada@example.com', password: examplePassword, firstName: 'Ada' }],
  } as const;
}
export type CustomerInput = XStatic<ReturnType<typeof customerInput>>;

export const customerBatchMax = 100;

export const CustomerBatchResult = {
  title: 'CustomerBatchResult',
  type: 'object',
  required: ['created', 'errors'],
  properties: {
    created: { type: 'array', items: Customer, description: 'In the order of the request' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['index', 'message'],
        properties: {
          index: { type: 'integer', minimum: 0, description: 'Position of the entry in the request, from 0' },
          message: { type: 'string', description: 'Every invalid field with the reason' },
        },
      },
    },
  },
  examples: [{ created: Customer.examples, errors: [{ index: 1, message: 'email: is required' }] }],
} as const;

export const Login = {
  title: 'Login',
  type: 'object',
  required: ['username', 'password'],
  properties: {
    // A username that nobody can have gets the same response as a wrong password.
    username: { type: 'string', maxLength: 255, rule: anyTextRule, examples: ['ada'] },
    password: { type: 'string', format: 'password', rule: passwordRule },
  },
  examples: [{ username: 'ada', password: examplePassword }],
} as const;

export const LoginResult = {
  title: 'LoginResult',
  type: 'object',
  required: ['token', 'expiresAt'],
  properties: {
    token: { type: 'string', description: 'Send it as Authorization: Bearer <token>' },
    expiresAt: { ...timestampSchema, description: '24 hours from now' },
  },
  examples: [
    {
      token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3IiwiZXhwIjoxNzY4NTU1ODAwfQ.c2lnbmF0dXJlIG9mIHRoZSBleGFtcGxl',
      expiresAt: '2026-01-16T09:30:00.000Z',
    },
  ],
} as const;
