/**
 * Secrets of webhook endpoints. They sign deliveries, so they are stored encrypted and not hashed: AES-256-GCM with a key
 * derived from CURD_SECRET, bound to the id of the endpoint. A row that is copied to another endpoint cannot be read.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { type Clock, timestamp } from '../clock.ts';

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

/** A new secret. Its text is not stored, so it is shown only once. */
export interface NewSecret {
  readonly text: string;
  readonly stored: StoredSecret;
}

/** The remedy where CURD_SECRET was changed. */
export const secretUnreadable =
  'CURD_SECRET was changed, and the secret of the endpoint cannot be read any more. Rotate it: POST /v2/webhook-endpoints/{endpointId}/rotate-secret or "curd webhooks rotate-secret <id>".';

export interface EndpointSecrets {
  create(endpointId: number): NewSecret;
  /** Whether CURD_SECRET is still the one with which the secret was encrypted. */
  isReadable(endpointId: number, secret: StoredSecret): boolean;
  /** The keys that sign at this time, the newest first; null where one of them cannot be read. */
  signingKeys(endpointId: number, secrets: readonly StoredSecret[], now: number): Buffer[] | null;
}

/** The prefix and the format are those of Standard Webhooks: base64 of 24 to 64 bytes. */
const prefix = 'whsec_';
const secretBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** @param secret CURD_SECRET */
export function createEndpointSecrets(clock: Clock, secret: string): EndpointSecrets {
  const encryptionKey = Buffer.from(hkdfSync('sha256', secret, '', 'webhook secrets', 32));

  function seal(endpointId: number, bytes: Uint8Array): string {
    const nonce = clock.random(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', encryptionKey, nonce).setAAD(boundTo(endpointId));
    const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
  }

  /** null where it was encrypted with another CURD_SECRET or for another endpoint. */
  function unseal(endpointId: number, { sealed }: StoredSecret): Buffer | null {
    const bytes = Buffer.from(sealed, 'base64');
    const nonce = bytes.subarray(0, nonceBytes);
    const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes);
    try {
      const decipher = createDecipheriv('aes-256-gcm', encryptionKey, nonce, { authTagLength: tagBytes })
        .setAAD(boundTo(endpointId))
        .setAuthTag(tag);
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
    } catch {
      return null;
    }
  }

  return {
    create(endpointId) {
      const bytes = clock.random(secretBytes);
      const text = `${prefix}${Buffer.from(bytes).toString('base64')}`;
      return {
        text,
        stored: {
          sealed: seal(endpointId, bytes),
          // 32 bytes have one character of padding.
          last4: text.slice(-5, -1),
          createdAt: timestamp(clock.now()),
          endsAt: null,
        },
      };
    },

    isReadable: (endpointId, secret) => unseal(endpointId, secret) !== null,

    signingKeys(endpointId, secrets, now) {
      const keys = activeSecrets(secrets, now).map((one) => unseal(endpointId, one));
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

function boundTo(endpointId: number): Buffer {
  return Buffer.from(`webhook_endpoint:${endpointId}`);
}
