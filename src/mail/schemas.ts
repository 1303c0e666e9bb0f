/** Schemas of mails. */
import {
  cursorParameter,
  int64,
  limitParameter,
  nullableTimestampSchema,
  pageOf,
  timestampSchema,
} from '../schema/parts.ts';
import type { Parameters } from '../schema/schema.ts';
import { mailNames } from '../settings/mail.ts';
import { mailStates } from './queries.ts';

const nullableText = { type: ['string', 'null'] } as const;
const state = {
  type: 'string',
  enum: mailStates,
  description:
    'waiting: it will be sent. sent: the mail server has accepted it, or it was written to a file where no mail server is set. dropped: it was not needed any more, or too old, or one of too many. failed: the mail server refused it, or did not accept it in six attempts',
} as const;
const id = { ...int64, minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

export const Mail = {
  title: 'Mail',
  description: 'A mail to a customer, without its address and text',
  type: 'object',
  required: [
    ...['id', 'mail', 'state', 'customerId', 'orderId', 'eventId', 'attempts', 'createdAt', 'sentAt'],
    ...['nextAttemptAt', 'reason'],
  ],
  properties: {
    id: int64,
    mail: { type: 'string', enum: mailNames },
    state,
    customerId: int64,
    orderId: { type: ['integer', 'null'], format: 'int64' },
    eventId: {
      ...nullableText,
      description: 'The event that caused it; null for mails about a password or an address',
    },
    attempts: { type: 'integer', minimum: 0 },
    createdAt: { ...timestampSchema, description: 'When its reason happened' },
    sentAt: nullableTimestampSchema,
    nextAttemptAt: {
      ...nullableTimestampSchema,
      description: 'null while it is being sent, and when it has ended',
    },
    reason: {
      ...nullableText,
      description:
        'Why it was dropped or failed, or why the last attempt did; of a sent mail, that it was written to a file',
    },
  },
  examples: [
    {
      id: 118,
      mail: 'order-shipped',
      state: 'sent',
      customerId: 5,
      orderId: 31,
      eventId: 'evt_k3Xw_1043',
      attempts: 1,
      createdAt: '2026-11-22T09:42:13.160Z',
      sentAt: '2026-11-22T09:42:15.420Z',
      nextAttemptAt: null,
      reason: null,
    },
  ],
} as const;

export const MailList = pageOf('MailList', Mail, 'The newest first');

export const MailPreview = {
  title: 'MailPreview',
  type: 'object',
  required: ['subject', 'text', 'html'],
  properties: { subject: { type: 'string' }, text: { type: 'string' }, html: { type: 'string' } },
  examples: [
    {
      subject: 'Cheese shop: your order 31 is on its way',
      text: 'Hello Ada Lovelace,\n\nyour order is on its way.',
      html: '<!doctype html><html lang="en"><body><h1>Your order is on its way</h1></body></html>',
    },
  ],
} as const;

export const mailListQuery = {
  state: { type: 'string', enum: mailStates, description: 'Only mails in this state' },
  customerId: { ...id, description: 'Only mails to this customer' },
  orderId: { ...id, description: 'Only mails about this order' },
  cursor: cursorParameter(2000),
  limit: limitParameter('Mails on a page'),
} as const satisfies Parameters;
