/** The request of a customer for a link to set a new password. */
import { validationError } from '../../errors.ts';
import { conflictResponse, unprocessableResponse } from '../../http/responses/error-responses.ts';
import { type Route, route } from '../../http/route.ts';
import { anyTextRule } from '../../schema/text-rules.ts';
import type { ResetRequests } from './reset-requests.ts';

const text = { type: 'string', minLength: 1, maxLength: 254, rule: anyTextRule } as const;

const PasswordResetRequest = {
  title: 'PasswordResetRequest',
  description: 'One of the two',
  type: 'object',
  properties: { email: text, username: text },
  examples: [{ email: 'ada@example.com' }],
} as const;

const PasswordResetRequested = {
  title: 'PasswordResetRequested',
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string' } },
  examples: [{ message: 'If this customer exists, a mail with a link is on its way.' }],
} as const;

export function resetRoutes(resets: Pick<ResetRequests, 'request'>): Route[] {
  return [
    route({
      method: 'POST',
      path: '/customer/password-reset',
      operationId: 'requestPasswordReset',
      tag: 'Customers',
      summary: 'Mail a customer a link to set a new password',
      description:
        'Needs no credential. The response is the same, after the same time, whether the customer exists or not. The link works once, for 30 minutes after it was sent, and a newer one replaces it. Three requests an hour are permitted for a customer, further ones send nothing; and ten from a client IP: a server gives that of its visitor in `Curd-Client-IP`.',
      access: 'open',
      publishable: 'alone',
      rateLimitGroup: 'login',
      acceptsClientIp: true,
      dryRun: 'none',
      body: PasswordResetRequest,
      responses: {
        202: { description: 'The request is accepted', schema: PasswordResetRequested },
        ...conflictResponse('The shop sends no mails'),
        ...unprocessableResponse,
      },
      handle: async ({ body: { email, username }, clientIp }) => {
        if ((email === undefined) === (username === undefined)) {
          const message = 'send either email or username';
          throw validationError([{ field: email === undefined ? 'email' : 'username', message }]);
        }
        await resets.request(email === undefined ? { username: username ?? '' } : { email }, clientIp());
        return {
          status: 202,
          headers: { 'Cache-Control': 'no-store' },
          body: PasswordResetRequested.examples[0],
        };
      },
    }),
  ];
}
