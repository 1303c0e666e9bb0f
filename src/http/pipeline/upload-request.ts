/** Requests with a form that contains a file: the handler receives the form when its other checks have passed. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ReceivedForm } from '../bodies/multipart.ts';
import type { Exchange } from '../exchange.ts';
import type { RouteResponse } from '../responses/response.ts';
import type { Route } from '../route.ts';
import { recheckCredential } from './authenticate.ts';

/**
 * Runs the handler of an upload, and removes the received file when it is done.
 * @param respond runs the handler with a function that receives the form
 */
export function respondToUpload(
  exchange: Exchange,
  upload: NonNullable<Route['upload']>,
  respond: (receive: () => Promise<ReceivedForm>) => MaybePromise<RouteResponse>,
): Promise<RouteResponse> {
  const { request, principal, dependencies } = exchange;
  return dependencies.uploads.withUpload(request.raw, principal?.id ?? '', upload, async (receive) =>
    respond(async () => {
      const form = await receive();
      await recheckCredential(exchange);
      return form;
    }),
  );
}
