/** Secrets of webhook endpoints. They sign deliveries, so they are stored encrypted, bound to the id of the endpoint. */
import { type Clock, timestamp } from '../clock.ts';
import { commandName } from '../command-name.ts';
import { createSealer } from '../sealing.ts';

/** A secret in the column `secrets`, which has a JSON list of them, the newest first. */
export interface StoredSecret {
  /** The encrypted secret. */
  readonly sealed: string;
  /** The last four characters before the padding. */
  readonly last4: string;
  readonly createdAt: string;
  /** When the overlap of a rotation ends; null for the newest secret. */
  readonly endsAt: string | null;
}

/** The remedy if CURD_SECRET was changed. */
export const secretUnreadable = `CURD_SECRET was changed, and the secret of the endpoint cannot be read any more. Rotate it: POST /v2/webhook-endpoints/{endpointId}/rotate-secret or "${commandName} webhooks rotate-secret <id>".`;

export type EndpointSecrets = ReturnType<typeof createEndpointSecrets>;

/** The prefix and the format are those of Standard Webhooks: base64 of 24 to 64 bytes. */
const prefix = 'whsec_';
const secretBytes = 32;

/** @param secret CURD_SECRET */
export function createEndpointSecrets(clock: Clock, secret: string) {
  const sealer = createSealer(clock, secret, 'webhook secrets');
  const open = (endpointId: number, { sealed }: StoredSecret) => sealer.open(sealed, boundTo(endpointId));

  return {
    /** A new secret. Its text is not stored, so it is shown only once. */
    create(endpointId: number) {
      const bytes = clock.random(secretBytes);
      const text = `${prefix}${Buffer.from(bytes).toString('base64')}`;
      return {
        text,
        stored: {
          sealed: sealer.seal(bytes, boundTo(endpointId)),
          // 32 bytes have one character of padding.
          last4: text.slice(-5, -1),
          createdAt: timestamp(clock.now()),
          endsAt: null,
        },
      };
    },

    /** Whether CURD_SECRET is still the one with which the secret was encrypted. */
    isReadable: (endpointId: number, secret: StoredSecret) => open(endpointId, secret) !== null,

    /** The keys that sign at this time, the newest first; null if one of them cannot be read. */
    signingKeys(endpointId: number, secrets: readonly StoredSecret[], now: number) {
      const keys = activeSecrets(secrets, now).map((secret) => open(endpointId, secret));
      return keys.some((key) => key === null) ? null : (keys as Buffer[]);
    },
  };
}

/** The secrets whose overlap has not ended. */
export function activeSecrets(secrets: readonly StoredSecret[], now: number): StoredSecret[] {
  return secrets.filter(({ endsAt }) => endsAt === null || Date.parse(endsAt) > now);
}

/** The list in the column `secrets`. */
export function parseSecrets(column: string): StoredSecret[] {
  return JSON.parse(column);
}

function boundTo(endpointId: number): string {
  return `webhook_endpoint:${endpointId}`;
}
