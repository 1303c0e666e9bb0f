import type { CallOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** The request log: what happened to a request. */
export class Requests extends Area {
  /** Lists the requests that are kept, the newest first. */
  list(filters?: Query<'listRequests'>, options?: CallOptions): ListOf<'listRequests'> {
    return this.api.list('/v2/requests', { query: filters }, options);
  }

  /** Returns the requests with an id, such as `requestId` of an error, a second after their response. */
  get(requestId: string, options?: CallOptions): Promise<Result<'getRequest'>> {
    return this.api.get('/v2/requests/{requestId}', { path: { requestId } }, options);
  }
}
