import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** The mails to customers. */
export class Mails extends Area {
  /** Lists mails, the newest first. */
  list(filters?: Query<'listMails'>, options?: CallOptions): ListOf<'listMails'> {
    return this.api.list('/v2/mails', { query: filters }, options);
  }

  /** Sends a mail again that failed or was dropped, or at once where it waits. */
  retry<Options extends WriteOptions>(
    mailId: number,
    options?: Options,
  ): Promise<Outcome<Options, Result<'retryMail'>>> {
    return this.api.post('/v2/mails/{mailId}/retry', { path: { mailId } }, options);
  }

  /** Returns subject, text and HTML of a mail, as it would be sent today. */
  preview(mailId: number, options?: CallOptions): Promise<Result<'previewMail'>> {
    return this.api.get('/v2/mails/{mailId}/preview', { path: { mailId } }, options);
  }
}
