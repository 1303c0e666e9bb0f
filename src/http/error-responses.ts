/** Answers that many routes share, as their contract lists them. */
import { errorCatalogue, errorsMax } from '../errors.ts';
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
    [status]: {
      description,
      schema: status === 422 ? ValidationErrorSchema : ErrorSchema,
      example: exampleError(status, description),
    },
  });

/** Where the message says which resource it is about, it is like the description. */
function exampleError(status: number, description: string): object {
  const entry = Object.values(errorCatalogue).find((one) => one.status === status);
  const error = { code: status, type: entry?.type, message: entry?.message };
  if (status === 422) {
    const fault = { field: 'name', message: 'is required' };
    return { ...error, message: `${error.message} ${fault.field}: ${fault.message}`, errors: [fault] };
  }
  return status === 404 || status === 409 ? { ...error, message: `${description}.` } : error;
}

export const badRequest = errorAnswer(400);
export const unauthorized = errorAnswer(401);
export const notFound = errorAnswer(404);
export const conflict = errorAnswer(409);
export const payloadTooLarge = errorAnswer(413);
export const unsupportedMediaType = errorAnswer(415);
export const preconditionFailed = errorAnswer(412)('The resource has changed since the version in If-Match');
export const unavailable = errorAnswer(503);
const forbidden = errorAnswer(403);
const requestTimeout = errorAnswer(408);
const tooManyRequests = errorAnswer(429);
export const rangeNotSatisfiable = errorAnswer(416);
export const unprocessable = errorAnswer(422)('The request failed validation; nothing was changed');

/** Text other than JSON, of one of these media types. */
export const text = (description: string, ...mediaTypes: readonly string[]) => ({ description, mediaTypes });

/** Everything that a route may answer: what it declares, and what the chain in front of it does. */
export function answersOf({ access, method, body, answers }: Described): Answers {
  const tooMany = tooManyRequests('Too many requests: wait as long as Retry-After says');
  if (access === 'operational') {
    return { ...tooMany, ...answers };
  }
  const isGuarded = typeof access !== 'string';
  return {
    ...badRequest('A parameter or header is not valid'),
    ...unauthorized('No valid credential'),
    ...(isGuarded ? forbidden('The credential is valid and does not permit this') : {}),
    ...(method === 'POST' ? conflict('The first request with this Idempotency-Key is still running') : {}),
    ...(body === undefined
      ? {}
      : {
          ...requestTimeout('The body took too long to arrive'),
          ...payloadTooLarge('The body is over 1 MiB'),
          ...unsupportedMediaType('The body is of no media type that is taken here'),
        }),
    ...tooMany,
    ...unavailable('Too much is asked of the server at once: try again as Retry-After says'),
    ...answers,
  };
}
