/** Errors of the endpoints that programs call: in the shape of OAuth (RFC 6749, section 5.2) and in that of this API. */
import { errorCatalogue } from '../../errors.ts';

export function oauthErrorBody(error: string, description: string, status: number) {
  const { badRequest, internal } = errorCatalogue;
  const entry = Object.values(errorCatalogue).find((one) => one.status === status);
  return {
    error,
    error_description: description,
    code: status,
    type: (entry ?? (status >= 500 ? internal : badRequest)).type,
    message: description,
  };
}
