/**
 * Every error that a caller can cause or meet. Code throws an `AppError` with a code of the catalogue and knows nothing
 * of HTTP: `http/responses/error-mapping.ts` turns it into a response, the command line into a sentence.
 */

interface CatalogueEntry {
  /** The member `type` of the error body: part of the API. */
  readonly type: string;
  /** The message if the code that throws gives none. */
  readonly message: string;
}

export const errorCatalogue = {
  badRequest: { type: 'bad_request', message: 'A parameter or header of the request is not valid.' },
  unauthorized: { type: 'unauthorized', message: 'A valid credential is needed here.' },
  forbidden: { type: 'forbidden', message: 'The credential does not permit this.' },
  notFound: { type: 'not_found', message: 'There is nothing at this path.' },
  methodNotAllowed: { type: 'method_not_allowed', message: 'This path does not support the method.' },
  requestTimeout: { type: 'request_timeout', message: 'The request took too long to arrive.' },
  conflict: { type: 'conflict', message: 'The request conflicts with what is stored.' },
  eventsExpired: { type: 'events_expired', message: 'Events this old have been removed from the log.' },
  logRewound: {
    type: 'log_rewound',
    message: 'The position is not in the log: it was restored from an earlier state.',
  },
  preconditionFailed: {
    type: 'precondition_failed',
    message: 'The resource has changed: read it again and send its new ETag in If-Match.',
  },
  payloadTooLarge: { type: 'payload_too_large', message: 'The body is larger than this path accepts.' },
  unsupportedMediaType: {
    type: 'unsupported_media_type',
    message: 'Send the body in a media type that the Accept header of this response names.',
  },
  rangeNotSatisfiable: {
    type: 'range_not_satisfiable',
    message: 'The requested range begins after the end of the file.',
  },
  expectationFailed: {
    type: 'expectation_failed',
    message: 'Only "Expect: 100-continue" is supported.',
  },
  validation: { type: 'validation_error', message: 'The request failed validation.' },
  headerFieldsTooLarge: {
    type: 'header_fields_too_large',
    message: 'The request line and headers together are larger than 16 KiB.',
  },
  rateLimited: {
    type: 'rate_limit_exceeded',
    message: 'Too many requests: wait as long as Retry-After says.',
  },
  internal: {
    type: 'internal_error',
    message: 'The server failed. Find the details in its log by the X-Request-Id of this response.',
  },
  badGateway: { type: 'bad_gateway', message: 'Simulated: Curd does not return this by itself.' },
  gatewayTimeout: { type: 'gateway_timeout', message: 'Simulated: Curd does not return this by itself.' },
  unavailable: {
    type: 'unavailable',
    message: 'The server cannot process the request right now. Try again shortly.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** A field that failed validation: `items[0].quantity`, or `""` for the whole body. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** A limit as it is after a request. The member names are the terms of the RateLimit header fields. */
export interface LimitState {
  readonly policy: 'hour' | 'minute' | 'burst' | 'spend' | 'address' | 'login' | 'dry-run' | 'discount-code';
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Milliseconds until more will remain. */
  readonly resetMs: number;
}

/** What a response to an error needs beside the message, by code. */
export interface DetailsByCode {
  /** `description` says what is invalid. It has no quotes and no backslashes (RFC 6750, section 3). */
  unauthorized: { readonly credential: 'missing' | 'invalid'; readonly description?: string | undefined };
  /** The scopes that would have sufficed. */
  forbidden: { readonly scopes: readonly string[] };
  methodNotAllowed: { readonly allows: readonly string[] };
  conflict:
    | { readonly retryAfterMs: number }
    /** The total of an order, above the maximum of the request. */
    | { readonly total: number };
  /** The URL of what is left. */
  eventsExpired: { readonly firstUrl: string };
  /** The rest of the body was not read. */
  payloadTooLarge: { readonly isBodyUnread: true };
  unsupportedMediaType:
    | { readonly accepts: readonly string[] }
    | { readonly acceptsPatch: readonly string[] }
    | { readonly acceptsEncodings: readonly string[] };
  /** The size of the file in bytes. */
  rangeNotSatisfiable: { readonly size: number };
  rateLimited: {
    readonly retryAfterMs: number;
    readonly limits?: readonly LimitState[];
    /** When `limits` were read, in milliseconds since the epoch; absent if no X-RateLimit-* is sent. */
    readonly readAt?: number;
    /** The limit that was reached, as the request log names it. */
    readonly refusedBy?: 'burst' | 'minute' | 'hour' | 'clientIp' | 'dryRun';
  };
  unavailable: { readonly retryAfterMs: number };
}

interface Options<C extends ErrorCode> {
  /** The log alone shows it, never a response. */
  readonly cause?: unknown;
  /** The fields that are not valid, or whose values are taken. */
  readonly errors?: readonly FieldError[];
  readonly details?: C extends keyof DetailsByCode ? DetailsByCode[C] : never;
}

/** A code with its message and options: the type of the details depends on the code. */
type AppErrorArguments = {
  [C in ErrorCode]: [code: C, message?: string | undefined, options?: Options<C>];
}[ErrorCode];

/** An error with a public message, typed details and a private cause. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly type: string;
  readonly errors: readonly FieldError[];
  readonly details: DetailsByCode[keyof DetailsByCode] | undefined;

  constructor(...[code, message = errorCatalogue[code].message, options = {}]: AppErrorArguments) {
    super(message, { cause: options.cause });
    this.code = code;
    this.type = errorCatalogue[code].type;
    this.errors = options.errors ?? [];
    this.details = options.details;
  }
}

/** The server or something that it depends on failed: the caller did nothing wrong. */
export function isFailure(code: ErrorCode): boolean {
  return code === 'internal' || code === 'unavailable';
}

/** How many validation errors a response lists: a client can cause as many as its request has members. */
export const errorsMax = 100;
/** Characters. The client chooses the name of an unknown member, and so its length. */
const fieldNameMax = 200;

/** Adds a validation error, unless there are more than a response lists already. */
export function addError(errors: FieldError[], field: string, message: string): void {
  if (!isFull(errors)) {
    const isLong = field.length > fieldNameMax;
    errors.push({ field: isLong ? `${field.slice(0, fieldNameMax).toWellFormed()}...` : field, message });
  }
}

/** Are there more errors than a response lists? */
function isFull(errors: readonly FieldError[]): boolean {
  return errors.length > errorsMax;
}

/** An error that lists the fields that failed, in the order of the schema, up to `errorsMax` of them. */
export function validationError(errors: readonly FieldError[]): AppError {
  const named = joinErrors(errors.slice(0, 1));
  const listed = errors.slice(0, errorsMax);
  const others = listed.length > 1 ? ` (and ${listed.length - 1} more)` : '';
  const unlisted = isFull(errors) ? ` ${moreErrors}` : '';
  return new AppError('validation', `The request failed validation. ${named}${others}${unlisted}`, {
    errors: listed,
  });
}

/** @throws AppError validation if there are errors */
export function requireNoErrors(errors: readonly FieldError[]): void {
  if (errors.length > 0) {
    throw validationError(errors);
  }
}

/** The error for parameters and headers that are not valid, with each of them. */
export function badRequestError(errors: readonly FieldError[]): AppError {
  return new AppError('badRequest', joinErrors(errors), { errors: errors.slice(0, errorsMax) });
}

/** The error for one parameter or header. @param message completes "<field>: ..." */
export function parameterError(field: string, message: string): AppError {
  return badRequestError([{ field, message }]);
}

/** Joins up to `errorsMax` errors into one text. */
export function joinErrors(errors: readonly FieldError[]): string {
  const named = errors
    .slice(0, errorsMax)
    .map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  return [...named, ...(isFull(errors) ? [moreErrors] : [])].join('; ');
}

const moreErrors = `There are more errors than the ${errorsMax} that are listed.`;

/**
 * The error for a credential that was sent and is not, or no longer, valid.
 * @param description the reason, in the challenge only
 */
export function invalidCredential(message: string, description?: string): AppError {
  return new AppError('unauthorized', message, { details: { credential: 'invalid', description } });
}

/** The request can succeed after some seconds. @param cause for the log only */
export function unavailable(message: string, seconds: number, cause?: unknown): AppError {
  return new AppError('unavailable', message, { cause, details: { retryAfterMs: seconds * 1000 } });
}

export const mayHaveBeenMade =
  'The change may have been made: send the request again with the same Idempotency-Key, or check first.';

const reads = ['GET', 'HEAD', 'OPTIONS'];

/** The error with a remedy that fits the method: only a POST has an Idempotency-Key. */
export function forMethod(error: AppError, method: string): AppError {
  if (method === 'POST' || !error.message.includes(mayHaveBeenMade)) {
    return error;
  }
  const remedy = reads.includes(method)
    ? 'Send the request again.'
    : 'The change may have been made: check before you send the request again.';
  const { cause, details } = error as AppError & { readonly details: DetailsByCode['unavailable'] };
  return new AppError('unavailable', error.message.replace(mayHaveBeenMade, remedy), { cause, details });
}

/** The error for a disk that failed. @param mayBeMade whether the request may have changed something */
export function diskFault(cause: unknown, mayBeMade: boolean): AppError {
  const consequence = mayBeMade ? mayHaveBeenMade : 'Nothing was changed.';
  return unavailable(`The disk cannot be read or written right now. ${consequence}`, 60, cause);
}
