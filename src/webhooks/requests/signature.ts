/** Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`. */
import { createHmac } from 'node:crypto';

/**
 * The value of `webhook-signature`: one signature for each key, because a consumer knows the old or the new secret
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
