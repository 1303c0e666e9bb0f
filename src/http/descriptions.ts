/** Answers that many routes share, as their contract lists them. */
import { errorsMax } from '../errors.ts';
import type { Answers, Described, Schema } from './route.ts';

export const ErrorSchema = {
  title: 'Error',
  type: 'object',
  required: ['code', 'type', 'message'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status' },
    type: { type: 'string', description: 'The finer meaning, stable for programs' },
    message: { type: 'string', description: 'What went wrong, and what to do about it' },
  },
} as const satisfies Schema;

export const ValidationErrorSchema = {
  title: 'ValidationError',
  type: 'object',
  required: ['code', 'type', 'message', 'errors'],
  properties: {
    ...ErrorSchema.properties,
    errors: {
      type: 'array',
      minItems: 1,
      maxItems: errorsMax,
      description: 'Every field that failed, in the order of the schema; `message` says where there are more',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: {
          field: {
            type: 'string',
            examples: ['items[0].quantity'],
            description: 'Empty for the body as a whole',
          },
          message: { type: 'string' },
        },
      },
    },
  },
} as const satisfies Schema;

const errorAnswer =
  (status: number) =>
  (description: string): Answers => ({
    [status]: { description, schema: status === 422 ? ValidationErrorSchema : ErrorSchema },
  });

export const badRequest = errorAnswer(400);
export const unauthorized = errorAnswer(401);
export const notFound = errorAnswer(404);
export const conflict = errorAnswer(409);
export const payloadTooLarge = errorAnswer(413);
export const unsupportedMediaType = errorAnswer(415);
export const preconditionFailed = errorAnswer(412)('The resource has changed since the version in If-Match');
export const notReady = errorAnswer(503);
export const rangeNotSatisfiable = errorAnswer(416);
export const unprocessable = errorAnswer(422)('The request failed validation; nothing was changed');

/** Text other than JSON, of one of these media types. */
export const text = (description: string, ...mediaTypes: readonly string[]) => ({ description, mediaTypes });

/** Everything that a route may answer: what it declares, and what the chain in front of it does. */
export function answersOf({ access, method, body, answers }: Described): Answers {
  if (access === 'operational') {
    return answers;
  }
  const schema = ErrorSchema;
  const isGuarded = typeof access !== 'string';
  return {
    400: { description: 'A parameter or header is not valid', schema },
    401: { description: 'No valid credential', schema },
    ...(isGuarded
      ? { 403: { description: 'The credential is valid and does not permit this', schema } }
      : {}),
    ...(method === 'POST'
      ? { 409: { description: 'The first request with this Idempotency-Key is still running', schema } }
      : {}),
    ...(body === undefined
      ? {}
      : {
          408: { description: 'The body took too long to arrive', schema },
          413: { description: 'The body is over 1 MiB', schema },
          415: { description: 'The body is of no media type that is taken here', schema },
        }),
    429: { description: 'Too many requests: wait as long as Retry-After says', schema },
    503: { description: 'Too much is asked of the server at once: try again as Retry-After says', schema },
    ...answers,
  };
}
