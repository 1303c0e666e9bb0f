/** Mails over HTTP, for operators. */
import { anyOf, oauth } from '../access/access.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import { conflictResponse, notFoundResponse } from '../http/responses/error-responses.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import { type MailPreviews, noMail } from './previews.ts';
import { Mail, MailList, MailPreview, mailListQuery } from './schemas.ts';
import type { MailService } from './service.ts';

const tag = 'Mail';
const access = anyOf(oauth('admin'));
const headers = { 'Cache-Control': 'no-store' };
const missing = notFoundResponse('There is no such mail');

/** @param wake lets the worker look for mails at once */
export function mailRoutes(
  mails: MailService,
  previews: Pick<MailPreviews, 'find'>,
  wake: () => void,
): Route[] {
  return [
    listRoute({
      path: '/mails',
      operationId: 'listMails',
      tag,
      summary: 'List the mails to customers, the newest first',
      description:
        'Neither addresses nor texts are stored: a mail is made when it is sent. Mails are deleted 30 days after they ended.',
      access,
      query: mailListQuery,
      page: { description: 'A page of mails', schema: MailList },
      list: ({ query }) => mails.list(query),
    }),
    route({
      method: 'POST',
      path: '/mails/:mailId/retry',
      operationId: 'retryMail',
      tag,
      summary: 'Send a mail again that failed or was dropped, or at once where it waits',
      description:
        'It has six attempts again, and is not too old for another day; a link for a new password for 30 minutes. It says what is true when it is sent.',
      access,
      responses: {
        200: { description: 'The mail, which waits', schema: Mail },
        ...missing,
        ...conflictResponse('The mail was sent, mail is off, or its address was deleted'),
      },
      handle: ({ params, withIdempotency }) =>
        withIdempotency(
          async (context) => {
            const mail = await mails.retry(context, idOf(params));
            wake();
            return mail;
          },
          (mail) => ({ status: 200, headers, body: mail }),
        ),
    }),
    route({
      method: 'GET',
      path: '/mails/:mailId/preview',
      operationId: 'previewMail',
      tag,
      summary: 'Show a mail as it would be sent today',
      description:
        'Made from the order and the customer of today, also where the mail was sent before. A link for a new password is shown as `…`.',
      access,
      responses: {
        200: { description: 'Subject, text and HTML', schema: MailPreview },
        ...missing,
        ...conflictResponse('The customer, or what the mail is about, was deleted'),
      },
      handle: async ({ params }) => ({
        status: 200,
        headers,
        body: { ...(await previews.find(idOf(params))) },
      }),
    }),
  ];
}

function idOf(params: Readonly<Record<string, string>>): number {
  return parsePathId(params.mailId, noMail);
}
