/** The request of an attempt, as Standard Webhooks 1.0.0 describes it, and whether its result is a success. */
import { createHmac } from 'node:crypto';
import type { SendResult, WebhookRequest } from './sender.ts';

export interface Message {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly keys: readonly Uint8Array[];
  /** Version of Curd. */
  readonly version: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function toRequest({ url, id, body, at, keys, version, headers }: Message): WebhookRequest {
  const seconds = Math.floor(at / 1000);
  return {
    url,
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': `Curd/${version}`,
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': sign(keys, id, seconds, body),
      ...headers,
    },
  };
}

/**
 * The value of `webhook-signature`, HMAC-SHA256 over `id.timestamp.body`: one signature for each key, because a consumer knows the old or the new secret
 * during a rotation.
 * @param timestampSeconds of the attempt, since the epoch
 */
export function sign(
  keys: readonly Uint8Array[],
  id: string,
  timestampSeconds: number,
  body: string,
): string {
  return keys
    .map((key) => {
      const digest = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64');
      return `v1,${digest}`;
    })
    .join(' ');
}

/** Why an attempt failed; null for a success. Only 2xx is one. */
export function attemptError({ status, error }: SendResult): string | null {
  const isSuccess = error === null && status !== null && status >= 200 && status < 300;
  return isSuccess ? null : (error ?? `the response has status ${status}`);
}
