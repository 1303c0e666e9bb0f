/**
 * The catalogue of everything that can go wrong in public. Code throws an entry; only the HTTP error handler and
 * the command line turn one into words for somebody. The finer meaning of a status lives in `type`.
 */

/** What an entry of the catalogue says: HTTP status, the `type` of the error body, and the message if none is given. */
interface CatalogueEntry {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

export const errorCatalogue = {
  badRequest: {
    status: 400,
    type: 'bad_request',
    message: 'A parameter or header of the request is not valid.',
  },
  unauthorized: { status: 401, type: 'unauthorized', message: 'A valid credential is needed here.' },
  forbidden: { status: 403, type: 'forbidden', message: 'The credential does not permit this.' },
  notFound: { status: 404, type: 'not_found', message: 'There is nothing at this address.' },
  methodNotAllowed: {
    status: 405,
    type: 'method_not_allowed',
    message: 'This address does not take that method.',
  },
  requestTimeout: { status: 408, type: 'request_timeout', message: 'The request took too long to arrive.' },
  conflict: { status: 409, type: 'conflict', message: 'The request conflicts with what is stored.' },
  preconditionFailed: {
    status: 412,
    type: 'precondition_failed',
    message: 'The resource has changed: read it again and send its new ETag in If-Match.',
  },
  payloadTooLarge: {
    status: 413,
    type: 'payload_too_large',
    message: 'The body is larger than this address takes.',
  },
  unsupportedMediaType: {
    status: 415,
    type: 'unsupported_media_type',
    message: 'Send the body in a media type that the Accept header of this answer names.',
  },
  rangeNotSatisfiable: {
    status: 416,
    type: 'range_not_satisfiable',
    message: 'The picture ends before the range that was asked for.',
  },
  expectationFailed: {
    status: 417,
    type: 'expectation_failed',
    message: 'Only "Expect: 100-continue" is understood.',
  },
  validation: { status: 422, type: 'validation_error', message: 'The request failed validation.' },
  headerFieldsTooLarge: {
    status: 431,
    type: 'header_fields_too_large',
    message: 'The request line and headers together are larger than 16 KiB.',
  },
  rateLimited: {
    status: 429,
    type: 'rate_limit_exceeded',
    message: 'Too many requests: wait as long as Retry-After says.',
  },
  internal: {
    status: 500,
    type: 'internal_error',
    message:
      'Something went wrong on our side. The X-Request-Id of this answer leads to the details in the log.',
  },
  unavailable: {
    status: 503,
    type: 'unavailable',
    message: 'The server cannot answer right now. Try again shortly.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** One field that failed: `items[0].quantity`, or `""` for the whole body. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

interface Details {
  /** Why, for the log only: never shown to the caller. */
  readonly cause?: unknown;
  /** Response headers that the status calls for, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Only with `validation`. */
  readonly errors?: readonly FieldError[];
}

/** A failure with a public message and, at choice, a private cause. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly FieldError[];

  constructor(code: ErrorCode, message: string = errorCatalogue[code].message, details: Details = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = errorCatalogue[code].status;
    this.type = errorCatalogue[code].type;
    this.headers = details.headers ?? {};
    this.errors = details.errors ?? [];
  }
}

/** How many validation errors a response lists: a client can cause as many as its request has members. */
export const errorsMax = 100;
/** Characters. The name of an unknown member is as long as the client likes. */
const fieldNameMax = 200;

/** Adds a validation error, unless there are more than a response lists already. */
export function addError(errors: FieldError[], field: string, message: string): void {
  if (!isFull(errors)) {
    const isLong = field.length > fieldNameMax;
    errors.push({ field: isLong ? `${field.slice(0, fieldNameMax).toWellFormed()}...` : field, message });
  }
}

/** Are there more errors than a response lists? Then further ones need not be looked for. */
export function isFull(errors: readonly FieldError[]): boolean {
  return errors.length > errorsMax;
}

/** A 422 that names each field that failed, in the order of the schema, up to `errorsMax` of them. */
export function validationError(errors: readonly FieldError[]): AppError {
  const named = inWords(errors.slice(0, 1));
  const listed = errors.slice(0, errorsMax);
  const others = listed.length > 1 ? ` (and ${listed.length - 1} more)` : '';
  const unlisted = isFull(errors) ? ` ${moreErrors}` : '';
  return new AppError('validation', `The request failed validation. ${named}${others}${unlisted}`, {
    errors: listed,
  });
}

/** Up to `errorsMax` errors in one text. */
export function inWords(errors: readonly FieldError[]): string {
  const named = errors
    .slice(0, errorsMax)
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  return [...named, ...(isFull(errors) ? [moreErrors] : [])].join('; ');
}

const moreErrors = `There are more errors than the ${errorsMax} that are listed.`;

/** A 503 that says in how many whole seconds to try again. @param cause for the log alone */
export function unavailable(message: string, seconds: number, cause?: unknown): AppError {
  return new AppError('unavailable', message, { cause, headers: { 'Retry-After': String(seconds) } });
}

export const mayHaveBeenMade =
  'The change may have been made: send the request again with the same Idempotency-Key, or check first.';

/** A 503 for a disk that reported an error. @param mayBeMade whether the request may have changed something */
export function diskFault(cause: unknown, mayBeMade: boolean): AppError {
  const consequence = mayBeMade ? mayHaveBeenMade : 'Nothing was changed.';
  return unavailable(`The disk cannot be read or written right now. ${consequence}`, 60, cause);
}

/** A 429 that says how long to wait: whole seconds, at least one, never too few (RFC 9110, section 10.2.3). */
export function rateLimited(
  message: string,
  waitMs: number,
  headers: Readonly<Record<string, string>> = {},
): AppError {
  return new AppError('rateLimited', message, {
    headers: { ...headers, 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  });
}
