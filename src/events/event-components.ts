/** Components of the OpenAPI document: events of each type as list, stream and webhooks show them, and the webhooks. */

import type { EventDefinition } from '../event-log/define.ts';
import type { EventTypes } from '../event-log/event-types.ts';
import type { WebhookDescription } from '../http/openapi/openapi.ts';
import { int64, timestampSchema } from '../schema/parts.ts';
import type { Parameters, Schema } from '../schema/schema.ts';

/** `EventOrderShipped` for `order.shipped`. */
function componentName(type: string): string {
  return `Event${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`;
}

/** Who caused an event or a test ping. */
export const originProperties = {
  actor: {
    type: 'string',
    description: 'Who caused it: `key:12`, `customer:5`, `client:ab12`, `cli`, `system`',
  },
  requestId: {
    type: ['string', 'null'],
    description: 'X-Request-Id of the request that caused it; do not send personal data in that header',
  },
} as const satisfies Readonly<Record<string, Schema>>;

function schemaOf({ type, description, schema }: EventDefinition): Schema {
  const data = schema.examples?.[0] ?? {};
  const [kind] = type.split('.');
  const { id = 12 } = data as { readonly id?: number };
  return {
    title: componentName(type),
    description,
    type: 'object',
    required: ['id', 'type', 'timestamp', 'sequence', 'subject', 'actor', 'requestId', 'data'],
    properties: {
      id: { type: 'string', description: 'Also the position after the event: send it as `since`' },
      type: { type: 'string', const: type },
      timestamp: timestampSchema,
      sequence: { ...int64, description: 'Rises by exactly one from event to event' },
      subject: { type: 'string', description: 'What it happened to' },
      ...originProperties,
      data: schema,
      previousId: {
        type: ['string', 'null'],
        description:
          'In webhooks only: the id of the event before this one for the same endpoint; null for the first',
      },
    },
    examples: [
      {
        id: 'evt_k3Xw_1043',
        type,
        timestamp: '2026-11-22T09:42:13.123Z',
        sequence: 1043,
        subject: kind === 'shop' ? kind : `${kind}:${id}`,
        actor: 'key:12',
        requestId: '0f3c9a4e-5a43-4c0c-8f6b-2a1f6f3f4a11',
        data,
      },
    ],
  };
}

/** The headers of every webhook. */
export const webhookHeaders = {
  'webhook-id': {
    type: 'string',
    isRequired: true,
    description: 'The id of the event. A repeated delivery has the same one',
  },
  'webhook-timestamp': {
    type: 'string',
    isRequired: true,
    description: 'Time of this attempt, in seconds since 1970. Refuse old ones',
  },
  'webhook-signature': {
    type: 'string',
    isRequired: true,
    description:
      '`v1,` and the base64 of an HMAC-SHA256 over id, timestamp and body, joined by full stops (Standard Webhooks). While a secret is rotated there are two, separated by a blank',
  },
} as const satisfies Parameters;

export const webhookHeaderExamples = {
  'webhook-id': 'evt_k3Xw_1043',
  'webhook-timestamp': '1795340533',
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
};

export interface EventComponents {
  /** An event of any type. */
  readonly eventSchema: Schema;
  /** One for each type of events. */
  readonly webhookDescriptions: readonly WebhookDescription[];
}

export function createEventComponents({ definitions }: EventTypes): EventComponents {
  const schemas = definitions.map((definition) => ({ definition, schema: schemaOf(definition) }));
  return {
    eventSchema: {
      title: 'Event',
      description: 'New types, and new members of the data, may be added: ignore those you do not know',
      oneOf: schemas.map(({ schema }) => schema),
      discriminator: { propertyName: 'type' },
      examples: schemas.find(({ definition }) => definition.type === 'order.shipped')?.schema.examples ?? [],
    },
    webhookDescriptions: schemas.map(({ definition: { type, description }, schema }) => ({
      name: type,
      summary: description,
      description: `Sent to each endpoint that receives the type \`${type}\`, signed and at least once.`,
      headers: webhookHeaders,
      headerExamples: webhookHeaderExamples,
      body: schema,
      responses: {
        '2XX': 'Accepted. The body of the response is ignored',
        410: 'The endpoint is gone: it is disabled',
        default: 'Not accepted: the delivery is repeated',
      },
    })),
  };
}
