/** The request of an attempt, as Standard Webhooks 1.0.0 describes it, and whether its result is a success. */
import type { SendResult, WebhookRequest } from './sender.ts';
import { sign } from './signature.ts';

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

/** Why an attempt failed; null for a success. Only 2xx is one. */
export function attemptError({ status, error }: SendResult): string | null {
  const isSuccess = error === null && status !== null && status >= 200 && status < 300;
  return isSuccess ? null : (error ?? `the response has status ${status}`);
}
