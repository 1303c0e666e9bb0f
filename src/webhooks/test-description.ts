/** The test ping in the OpenAPI document. */
import { originProperties, webhookHeaderExamples, webhookHeaders } from '../events/event-components.ts';
import type { WebhookDescription } from '../http/openapi/openapi.ts';
import { objectOf, timestampSchema } from '../schema/parts.ts';

const WebhookTest = {
  title: 'WebhookTest',
  description: 'A test ping. It is not in the event log, so it has no number',
  ...objectOf({
    id: { type: 'string', description: 'Not a position of the event log' },
    type: { type: 'string', const: 'webhook.test' },
    timestamp: timestampSchema,
    sequence: { type: 'null' },
    subject: { type: 'string', description: 'The endpoint: `webhook_endpoint:3`' },
    ...originProperties,
    data: { type: 'object', description: 'Empty' },
    previousId: { type: 'null' },
  }),
  examples: [
    {
      id: 'evt_test_4fQ0aX9bTz1c',
      type: 'webhook.test',
      timestamp: '2026-11-22T09:42:13.123Z',
      sequence: null,
      subject: 'webhook_endpoint:3',
      actor: 'key:12',
      requestId: '0f3c9a4e-5a43-4c0c-8f6b-2a1f6f3f4a11',
      data: {},
      previousId: null,
    },
  ],
} as const;

export const testDescription: WebhookDescription = {
  name: 'webhook.test',
  summary: 'A test ping',
  description:
    'Sent once for each request to test an endpoint, to endpoints of all types of events, and signed.',
  headers: webhookHeaders,
  headerExamples: { ...webhookHeaderExamples, 'webhook-id': WebhookTest.examples[0].id },
  body: WebhookTest,
  responses: {
    '2XX': 'Accepted. All deliveries that wait for the endpoint are due',
    default: 'Not accepted: the caller of the test gets the status. The ping is not repeated',
  },
};
