/** How an endpoint is doing, from its latest deliveries. */
import type { Curd, Result, WebhookEndpoint } from '../../../../client/src/index.ts';

export type Delivery = Result<'listWebhookDeliveries'>['items'][number];

export const deliveryColors = {
  waiting: 'gray',
  sending: 'blue',
  delivered: 'green',
  failed: 'red',
} as const;

export const disabledReasons: Readonly<Record<NonNullable<WebhookEndpoint['disabledReason']>, string>> = {
  gone: 'The receiver returned 410 (Gone).',
  failing: 'A delivery was given up after ten attempts, and none succeeded meanwhile.',
  events_expired: 'The next events that it needs are no longer in the log.',
  secret_unreadable: 'CURD_SECRET was changed. Rotate the secret of the endpoint, then enable it.',
  on_request: 'It was disabled by an operator.',
};

const lookedAt = 100;

export interface Health {
  /** Time of the last delivery that succeeded; null for none. */
  readonly lastSuccessAt: string | null;
  /** The share of attempts that failed, of the last deliveries; null without an attempt. */
  readonly failureRate: number | null;
  readonly attempts: number;
}

export async function readHealth(curd: Curd, endpointId: number, signal: AbortSignal): Promise<Health> {
  const [latest, success] = await Promise.all([
    curd.webhookDeliveries.list(endpointId, { limit: lookedAt }, { signal }),
    curd.webhookDeliveries.list(endpointId, { status: 'delivered', limit: 1 }, { signal }),
  ]);
  const attempts = sum(latest.items.map(({ attemptCount }) => attemptCount));
  const failures = sum(
    latest.items.map(({ attemptCount, status }) => attemptCount - (isWithoutFailure(status) ? 1 : 0)),
  );
  return {
    lastSuccessAt: success.items[0]?.endedAt ?? null,
    failureRate: attempts === 0 ? null : Math.max(0, failures) / attempts,
    attempts,
  };
}

/** Whether the last attempt of a delivery has succeeded or still runs. */
function isWithoutFailure(status: Delivery['status']): boolean {
  return status === 'delivered' || status === 'sending';
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
