/** Every error of the client has one shape, whether the server or the network caused it. */

/**
 * The error types of the API, with that of this client. A newer server may send others: have a branch for all that a program
 * does not know.
 */
export type ErrorType =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'bad_gateway'
  | 'conflict'
  | 'gateway_timeout'
  | 'events_expired'
  | 'log_rewound'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'expectation_failed'
  | 'validation_error'
  | 'header_fields_too_large'
  | 'rate_limit_exceeded'
  | 'internal_error'
  | 'unavailable'
  /** No response arrived: the network failed, or an attempt took too long. */
  | 'connection_failed';

/** A field that failed validation: `items[0].quantity`, or `""` for the whole body. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Marks errors of every copy of this package, so that `isCurdError` recognizes them. */
const brand = Symbol.for('@curd/client.error');

/** An operation failed. Its subclasses are named after the status. */
export class CurdError extends Error {
  override name = 'CurdError';
  /** The HTTP status, 0 without a response. */
  declare readonly status: number;
  declare readonly type: ErrorType;
  /** `X-Request-Id` of the response. The operator finds the request in the log by it. */
  declare readonly requestId: string | undefined;
  /** How long to wait before another try. */
  declare readonly retryAfterSeconds: number | undefined;
  /** How often the request was sent. Above 1, an earlier attempt may have succeeded without its response arriving. */
  declare readonly attempts: number;
  /** The key of a POST. Sent again with the same body, it cannot have a second effect. */
  declare readonly idempotencyKey: string | undefined;
  declare readonly method: string;
  declare readonly path: string;
  /** The fields that the server refused. Empty if it names none. */
  declare readonly errors: readonly FieldError[];

  constructor(message: string, details: ErrorDetails, options?: ErrorOptions) {
    super(message, options);
    Object.assign(this, details);
    Object.defineProperty(this, brand, { value: true });
  }
}

export type ErrorDetails = Omit<CurdError, keyof Error>;

/** 401: the credential is missing, unknown, expired or revoked. */
export class Unauthorized extends CurdError {
  override name = 'Unauthorized';
}
/** 403: the credential does not permit this. */
export class Forbidden extends CurdError {
  override name = 'Forbidden';
}
/** 404: the resource does not exist. */
export class NotFound extends CurdError {
  override name = 'NotFound';
}
/** 409: the request conflicts with what is stored. */
export class Conflict extends CurdError {
  override name = 'Conflict';
}
/** 410: the position is no longer in the event log. */
export class Gone extends CurdError {
  override name = 'Gone';
}
/** 412: the resource changed since the version in `ifMatch`. */
export class PreconditionFailed extends CurdError {
  override name = 'PreconditionFailed';
}
/** 422: the body is not valid; `errors` lists the fields. */
export class ValidationFailed extends CurdError {
  override name = 'ValidationFailed';
}
/** 429: more requests than the plan permits. */
export class RateLimited extends CurdError {
  override name = 'RateLimited';
}
/** 503: the server cannot process the request right now. */
export class Unavailable extends CurdError {
  override name = 'Unavailable';
}
/** No response arrived. `cause` is the error of `fetch`. */
export class ConnectionFailed extends CurdError {
  override name = 'ConnectionFailed';
}

const classes: Readonly<Record<number, typeof CurdError>> = {
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  410: Gone,
  412: PreconditionFailed,
  422: ValidationFailed,
  429: RateLimited,
  503: Unavailable,
};

/** The error of a status, in its class. */
export function createError(message: string, details: ErrorDetails): CurdError {
  return new (classes[details.status] ?? CurdError)(message, details);
}

/** Whether this is an error of this client, and of this type. Also recognizes errors of another copy of the package. */
export function isCurdError(error: unknown, type?: ErrorType): error is CurdError {
  return (
    typeof error === 'object' &&
    error !== null &&
    brand in error &&
    (type === undefined || (error as unknown as CurdError).type === type)
  );
}
