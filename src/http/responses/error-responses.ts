/** Responses that many routes document. */

import { confinedRefusal } from '../../access/access.ts';
import { errorCatalogue, errorsMax } from '../../errors.ts';
import { objectOf } from '../../schema/parts.ts';
import type { Schema } from '../../schema/schema.ts';
import type { Described } from '../route.ts';
import { shownBytes } from './error-body.ts';
import { codeOfStatus } from './error-mapping.ts';
import type { DocumentedResponses } from './response.ts';

const errors = {
  type: 'array',
  minItems: 1,
  maxItems: errorsMax,
  description:
    'The fields that are not valid, in the order of the schema, or whose values are taken; `message` says when there are more',
  items: objectOf({
    field: {
      type: 'string',
      examples: ['items[0].quantity'],
      description: 'Empty for the whole body',
    },
    message: { type: 'string' },
  }),
} as const satisfies Schema;

export const ErrorSchema = {
  title: 'Error',
  type: 'object',
  required: ['code', 'type', 'message'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status' },
    type: { type: 'string', description: 'The error type, stable for programs' },
    message: { type: 'string', description: 'What happened, why, and what to do' },
    errors,
  },
} as const satisfies Schema;

const ValidationErrorSchema = {
  title: 'ValidationError',
  type: 'object',
  required: ['code', 'type', 'message', 'errors'],
  properties: ErrorSchema.properties,
} as const satisfies Schema;

const errorResponse =
  (status: number) =>
  (description: string): DocumentedResponses => ({
    [status]: {
      description,
      schema: status === 422 ? ValidationErrorSchema : ErrorSchema,
      example: exampleError(status, description),
    },
  });

/** Messages of 404 and 409 name the resource, as their descriptions do. */
function exampleError(status: number, description: string): object {
  const entry = errorCatalogue[codeOfStatus(status) ?? 'internal'];
  const error = { code: status, type: entry.type, message: entry.message };
  if (status === 422) {
    const fieldError = { field: 'name', message: 'is required' };
    return {
      ...error,
      message: `${error.message} ${fieldError.field}: ${fieldError.message}`,
      errors: [fieldError],
    };
  }
  return status === 404 || status === 409 ? { ...error, message: `${description}.` } : error;
}

export const badRequestResponse = errorResponse(400);
export const unauthorizedResponse = errorResponse(401);
export const notFoundResponse = errorResponse(404);
export const conflictResponse = errorResponse(409);
export const goneResponse = errorResponse(410);
export const payloadTooLargeResponse = errorResponse(413);
export const unsupportedMediaTypeResponse = errorResponse(415);
export const preconditionFailedResponse = errorResponse(412)(
  'The resource has changed since the version in If-Match',
);
export const unavailableResponse = errorResponse(503);
const forbidden = errorResponse(403);
const requestTimeout = errorResponse(408);
const tooManyRequests = errorResponse(429);
export const rangeNotSatisfiableResponse = errorResponse(416);
export const unprocessableResponse = errorResponse(422)('The request failed validation. Nothing was changed');

/** A response with text of one of these media types. */
export const documentedText = (description: string, ...mediaTypes: readonly string[]) => ({
  description,
  mediaTypes,
});

/** All responses of a route: those that it declares, and those of the pipeline. */
export function documentedResponses({
  access,
  method,
  body,
  responses,
  permitsConfined,
  bodyBytesMax = 1024 * 1024,
}: Described): DocumentedResponses {
  const tooMany = tooManyRequests('Too many requests. Wait as long as Retry-After says');
  if (access === 'operational') {
    return { ...tooMany, ...responses };
  }
  const refusals = [
    ...(typeof access === 'string' ? [] : ['The credential is valid but does not permit this']),
    ...(permitsConfined ? [] : [confinedRefusal]),
  ];
  return {
    ...badRequestResponse('A parameter or header is not valid'),
    ...unauthorizedResponse('No valid credential'),
    ...(refusals.length > 0 ? forbidden(refusals.join('. ')) : {}),
    ...(method === 'POST'
      ? conflictResponse('The first request with this Idempotency-Key is still running')
      : {}),
    ...(body === undefined
      ? {}
      : {
          ...requestTimeout('The body took too long to arrive'),
          ...payloadTooLargeResponse(`The body is over ${shownBytes(bodyBytesMax)}`),
          ...unsupportedMediaTypeResponse('The media type of the body is not supported'),
        }),
    ...tooMany,
    ...unavailableResponse('The server is overloaded: wait as long as Retry-After says'),
    ...responses,
  };
}
