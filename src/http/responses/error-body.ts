/**
 * Error bodies: the schema `Error` of openapi.json, or problem details (RFC 9457) if Accept asks for them. The bodies
 * of the OAuth endpoints are in auth/oauth/provider/error-body.ts.
 */
import { AppError, diskFault, type FieldError } from '../../errors.ts';
import { isDiskError } from '../../system-errors.ts';
import { toErrorStatus } from './error-mapping.ts';
import { findQuality } from './quality-values.ts';

interface ErrorBody {
  readonly code: number;
  readonly type: string;
  readonly message: string;
  readonly errors?: readonly FieldError[];
}

/** The body of an error, and its media type. */
export function errorBody(
  error: AppError,
  accept: string | undefined,
  path: string,
): { mediaType: string; text: string } {
  const { type, message, errors } = error;
  const status = toErrorStatus(error);
  const fields = errors.length > 0 ? { errors } : {};
  if (accept !== undefined && prefersProblemDetails(accept)) {
    const problem = {
      type: `urn:curd:error:${type}`,
      title: type.replaceAll('_', ' '),
      status,
      detail: message,
      instance: path,
      code: status,
      errorType: type,
      message,
      ...fields,
    };
    return { mediaType: 'application/problem+json; charset=utf-8', text: JSON.stringify(problem) };
  }
  const body: ErrorBody = { code: status, type, message, ...fields };
  return { mediaType: 'application/json; charset=utf-8', text: JSON.stringify(body) };
}

/** The client must name problem details, with at least the weight of JSON (RFC 9110, section 12.5.1). */
function prefersProblemDetails(accept: string): boolean {
  const problem = findQuality(accept, 'application/problem+json') ?? 0;
  const json =
    findQuality(accept, 'application/json') ??
    findQuality(accept, 'application/*') ??
    findQuality(accept, '*/*') ??
    0;
  return problem > 0 && problem >= json;
}

/**
 * Turns anything that was thrown into an AppError: errors of the framework, of the disk, and bugs.
 * @param bodyBytesMax of the route
 */
export function toAppError(thrown: unknown, bodyBytesMax?: number): AppError {
  if (thrown instanceof AppError) {
    return thrown;
  }
  if (isDiskError(thrown)) {
    return diskFault(thrown, true);
  }
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const status = thrown instanceof Error && 'statusCode' in thrown ? Number(thrown.statusCode) : 500;
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return new AppError('notFound', 'The path is not validly percent-encoded.', { cause: thrown });
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError(
        'payloadTooLarge',
        bodyBytesMax === undefined ? undefined : `The body is larger than ${shownBytes(bodyBytesMax)}.`,
        { cause: thrown },
      );
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new AppError('badRequest', 'Content-Length does not match the size of the body.', {
        cause: thrown,
      });
    default:
      return status < 500
        ? new AppError('badRequest', undefined, { cause: thrown })
        : new AppError('internal', undefined, { cause: thrown });
  }
}

/** `1 MiB`, `64 KiB`. */
export function shownBytes(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / (1024 * 1024)} MiB` : `${bytes / 1024} KiB`;
}
