/** Triggers over HTTP. */
import { anyOf, oauth } from '../../access/access.ts';
import {
  conflictResponse,
  notFoundResponse,
  unprocessableResponse,
} from '../../http/responses/error-responses.ts';
import { TextBody } from '../../http/responses/response.ts';
import { type Route, route } from '../../http/route.ts';
import type { Schema } from '../../schema/schema.ts';
import type { TriggerService } from './trigger-service.ts';

const TriggerInput = {
  title: 'TriggerInput',
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      description: 'The type of the event',
      examples: ['order.shipped'],
    },
    subject: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 120,
      description: 'What the event is to happen to; by default something new is made for it',
      examples: ['order:31'],
    },
  },
  examples: [{ type: 'order.shipped' }],
} as const;

export function triggerRoutes(triggers: TriggerService, eventSchema: Schema): Route[] {
  const TriggeredEvent: Schema = {
    title: 'TriggeredEvent',
    type: 'object',
    required: ['event'],
    properties: { event: eventSchema },
    examples: [{ event: eventSchema.examples?.[0] }],
  };
  return [
    route({
      method: 'POST',
      path: '/sandbox/trigger',
      operationId: 'triggerSandboxEvent',
      tag: 'Sandbox',
      summary: 'Make an event happen',
      description:
        'Performs the real change that causes an event of this type, so that consumers get a real event with its real object. Without a subject, it makes objects for it and touches nothing else. Secrets of what it makes are not returned. Not in production.',
      access: anyOf(oauth('admin')),
      // Several transactions, and passwords are hashed.
      replay: 'beforeWork',
      dryRun: 'none',
      body: TriggerInput,
      responses: {
        201: { description: 'The event', schema: TriggeredEvent },
        ...notFoundResponse('There is no such subject'),
        ...conflictResponse('The subject is in a state in which the event cannot happen'),
        ...unprocessableResponse,
      },
      handle: ({ body, principal, context, withIdempotency }) =>
        withIdempotency(
          async ({ transaction }) => {
            const event = await triggers.trigger({ context, principal }, body.type, body.subject ?? null);
            return transaction(async () => event);
          },
          (event) => ({
            status: 201,
            headers: { 'Cache-Control': 'no-store' },
            body: new TextBody(`{"event":${event}}`),
          }),
        ),
    }),
  ];
}
