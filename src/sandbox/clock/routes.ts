/** The clock of the shop over HTTP. */
import { anyOf, oauth } from '../../access/access.ts';
import { toIdempotencyScope } from '../../access/principal.ts';
import { timestamp } from '../../clock.ts';
import { conflictResponse, unprocessableResponse } from '../../http/responses/error-responses.ts';
import { type Route, route } from '../../http/route.ts';
import { SandboxClock, SandboxClockAdvance, SandboxClockAdvanced } from './schemas.ts';
import type { ClockService } from './service.ts';

const tag = 'Sandbox';
const path = '/sandbox/clock';
const headers = { 'Cache-Control': 'no-store' };

export function clockRoutes(clock: ClockService): Route[] {
  return [
    route({
      method: 'GET',
      path,
      operationId: 'getSandboxClock',
      tag,
      summary: 'Read the time of the shop',
      description:
        'While it is ahead of the time of the machine, every response has it in the header `X-Clock`. This path does not exist in production.',
      access: 'any credential',
      responses: { 200: { description: 'The time', schema: SandboxClock } },
      handle: () => ({ status: 200, headers, body: { ...clock.read() } }),
    }),
    route({
      method: 'POST',
      path,
      operationId: 'advanceSandboxClock',
      tag,
      summary: 'Move the time of the shop forward',
      description:
        'Everything that becomes due on the way is done in its order, each at its own time: orders are approved, webhooks are sent and repeated. Sessions, keys, tokens, quotas and stored responses end as they would have. The response is sent when all of that is done. The clock never goes back, except by a reset. Send an `Idempotency-Key`: after a lost response, the same request continues to the same time. A dry run lists the transitions of orders. This path does not exist in production.',
      access: anyOf(oauth('admin')),
      replay: 'beforeWork',
      storesPlainResponse: true,
      body: SandboxClockAdvance,
      responses: {
        200: { description: 'The clock was moved', schema: SandboxClockAdvanced },
        ...conflictResponse(
          'The clock of this server cannot be moved, or the first request with this Idempotency-Key is still running',
        ),
        ...unprocessableResponse,
      },
      handle: ({ body, principal, headers: given, clientIp, withIdempotency }) => {
        const key = given['idempotency-key'];
        const name =
          key === undefined ? null : JSON.stringify([toIdempotencyScope(principal, clientIp), key]);
        return withIdempotency(
          (context) => clock.advance(context, body, name),
          ({ now, did, more }) => ({
            status: 200,
            headers,
            body: { now: timestamp(now), did, more },
          }),
        );
      },
    }),
  ];
}
