/** The one place that turns the code of an error into an HTTP status and headers. */
import type { AppError, DetailsByCode, ErrorCode } from '../../errors.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';

type ResponseHeaders = Readonly<Record<string, string>>;

/** Each status has one code, except 410: clients tell its two codes apart by the type in the body. */
const statuses: Readonly<Record<ErrorCode, number>> = {
  badRequest: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  requestTimeout: 408,
  conflict: 409,
  eventsExpired: 410,
  logRewound: 410,
  preconditionFailed: 412,
  payloadTooLarge: 413,
  unsupportedMediaType: 415,
  rangeNotSatisfiable: 416,
  expectationFailed: 417,
  validation: 422,
  rateLimited: 429,
  headerFieldsTooLarge: 431,
  internal: 500,
  badGateway: 502,
  unavailable: 503,
  gatewayTimeout: 504,
};

/** Codes by status. That of 410 is the last one, `logRewound`: it is in the examples of the OpenAPI document. */
const codes = new Map(Object.entries(statuses).map(([code, status]) => [status, code as ErrorCode]));

const challenge = 'Bearer realm="cheese"';

const headersByCode: { readonly [C in keyof DetailsByCode]: (details: DetailsByCode[C]) => ResponseHeaders } =
  {
    // RFC 6750, section 3.
    unauthorized: ({ credential, description }) => {
      const error = credential === 'invalid' ? ', error="invalid_token"' : '';
      const reason = description === undefined ? '' : `, error_description="${description}"`;
      return { 'WWW-Authenticate': `${challenge}${error}${reason}` };
    },
    // If no scope would suffice, clients must not ask for a token with another one.
    forbidden: ({ scopes }) =>
      scopes.length === 0
        ? {}
        : { 'WWW-Authenticate': `${challenge}, error="insufficient_scope", scope="${scopes.join(' ')}"` },
    methodNotAllowed: ({ allows }) => ({ Allow: allows.join(', ') }),
    conflict: (details) => ('retryAfterMs' in details ? retryAfter(details) : {}),
    eventsExpired: ({ firstUrl }) => ({ Link: `<${firstUrl}>; rel="first"` }),
    payloadTooLarge: () => ({ Connection: 'close' }),
    unsupportedMediaType: (details) =>
      'accepts' in details
        ? { Accept: details.accepts.join(', ') }
        : 'acceptsPatch' in details
          ? { 'Accept-Patch': details.acceptsPatch.join(', ') }
          : { 'Accept-Encoding': details.acceptsEncodings.join(', ') },
    rangeNotSatisfiable: ({ size }) => ({ 'Content-Range': `bytes */${size}` }),
    rateLimited: ({ limits, readAt, retryAfterMs }) => ({
      ...(limits === undefined ? {} : rateLimitHeaders(limits, readAt)),
      ...retryAfter({ retryAfterMs }),
    }),
    unavailable: retryAfter,
  };

/** Whole seconds, at least one, never too few (RFC 9110, section 10.2.3). */
function retryAfter({ retryAfterMs }: { readonly retryAfterMs: number }): ResponseHeaders {
  return { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
}

/** The HTTP status of an error. */
export function toErrorStatus({ code }: Pick<AppError, 'code'>): number {
  return statuses[code];
}

/** The headers that the status of an error requires, such as `Retry-After`. */
export function toErrorHeaders({ code, details }: AppError): ResponseHeaders {
  const write = headersByCode[code as keyof DetailsByCode] as (details: unknown) => ResponseHeaders;
  return details === undefined ? {} : write(details);
}

/** The code of a status; undefined if no error of ours has it. */
export function codeOfStatus(status: number): ErrorCode | undefined {
  return codes.get(status);
}
