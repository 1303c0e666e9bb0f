/** What a 401 or 403 says of the credential that it wants (RFC 6750, section 3). */
import { AppError } from '../errors.ts';

export const bearer = 'Bearer realm="cheese"';

/** No credential, or none that counts here. */
export function unauthorized(message: string): AppError {
  return new AppError('unauthorized', message, { headers: { 'WWW-Authenticate': bearer } });
}

/** A credential that was sent is not, or no longer, valid. @param description for the challenge alone */
export function invalidToken(message: string, description?: string): AppError {
  const more = description === undefined ? '' : `, error_description="${description}"`;
  return new AppError('unauthorized', message, {
    headers: { 'WWW-Authenticate': `${bearer}, error="invalid_token"${more}` },
  });
}
