/** What the API says of the sign-in to the console. */
import { objectOf, timestampSchema } from '../schema/parts.ts';
import type { Schema } from '../schema/schema.ts';

export const SignIn = {
  title: 'ConsoleSignIn',
  type: 'object',
  required: ['link'],
  properties: {
    link: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description: 'The part of the printed URL after `#link=`',
    },
  },
  examples: [{ link: 'q83vEjRWeJCrze8SNFZ4kAq83vEjRWeJCrze8SNFZ4k' }],
} as const satisfies Schema;

export const SignInResult = {
  title: 'ConsoleSignInResult',
  ...objectOf({
    accessToken: { type: 'string', description: 'Send it as `Authorization: Bearer <token>`' },
    expiresAt: timestampSchema,
  }),
  examples: [
    {
      accessToken: 'Wx1n0mJ5fK3hQ8rT2vB7zLcYp4sD6gA9eUiMoNqRjXk',
      expiresAt: '2026-11-22T17:42:13.123Z',
    },
  ],
} as const satisfies Schema;
