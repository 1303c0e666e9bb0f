/** Routes of pages: they count requests by client IP, and send errors as a page. */
import { AppError, isFailure } from '../../../errors.ts';
import { sendPage } from '../../../http/pages/send-page.ts';
import type { RawRequest, RawRoute } from '../../../http/raw-routes.ts';
import { toErrorHeaders, toErrorStatus } from '../../../http/responses/error-mapping.ts';
import type { CountClientIp, RateLimitGroup } from '../../../limits/client-ip-limits.ts';
import { oauthErrorPage, type PageLayout } from './pages.ts';

interface Dependencies {
  readonly page: PageLayout;
  /** Requests to pages carry no credential of the API. @throws AppError rateLimited */
  readonly countClientIp: CountClientIp;
}

/** Returns a function that makes the route of a page. By default forms are counted like logins. */
export function createPageRoute({ page, countClientIp }: Dependencies) {
  return (
    method: 'GET' | 'POST',
    path: string,
    handle: RawRoute['handle'],
    group: RateLimitGroup = method === 'POST' ? 'login' : 'any',
  ) => ({
    method,
    path,
    // Scripts of other origins must not read the pages (RFC 9700, section 2.6).
    cors: 'sameOrigin' as const,
    handle: (raw: RawRequest) =>
      withErrorPage(page, raw, async () => {
        const clientIp = (await raw.statedClientIp()) ?? raw.clientIp;
        await countClientIp(clientIp, group);
        return handle({ ...raw, clientIp });
      }),
  });
}

/** Sends errors as a page. */
async function withErrorPage(
  page: PageLayout,
  { response, reportFailure }: RawRequest,
  handle: () => Promise<void>,
): Promise<void> {
  try {
    await handle();
  } catch (error) {
    if (response.headersSent) {
      throw error;
    }
    if (error instanceof AppError) {
      reportIfFailure(error, reportFailure);
      sendPage(response, toErrorStatus(error), oauthErrorPage(page, error.type, error.message), {
        headers: toErrorHeaders(error),
      });
    } else if (error instanceof Error && error.name === 'SessionNotFound') {
      sendPage(response, 400, oauthErrorPage(page, 'session_not_found', undefined));
    } else {
      throw error;
    }
  }
}

/** Logs an error for which the server is responsible. */
export function reportIfFailure(error: AppError, reportFailure: RawRequest['reportFailure']): void {
  if (isFailure(error.code)) {
    reportFailure(error);
  }
}
