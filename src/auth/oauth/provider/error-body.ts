/** Error bodies of the endpoints for programs: the members of OAuth (RFC 6749, section 5.2) and those of this API. */
import { errorCatalogue } from '../../../errors.ts';
import { codeOfStatus } from '../../../http/responses/error-mapping.ts';

/** The body of an error with the OAuth code `error`. */
export function oauthErrorBody(error: string, description: string, status: number) {
  const code = codeOfStatus(status) ?? (status >= 500 ? 'internal' : 'badRequest');
  return {
    error,
    error_description: description,
    code: status,
    type: errorCatalogue[code].type,
    message: description,
  };
}
