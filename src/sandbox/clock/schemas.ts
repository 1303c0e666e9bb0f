/** Schemas of the clock of the shop. */
import { clockSchema, timestampSchema } from '../../schema/parts.ts';
import { durationRule, timestampRule } from '../../schema/text-rules.ts';

const count = { type: 'integer', minimum: 0 } as const;

export const SandboxClock = {
  title: 'SandboxClock',
  type: 'object',
  required: ['now', 'system', 'advancedBy', 'movable'],
  properties: {
    ...clockSchema.properties,
    system: { ...timestampSchema, description: 'The time of the machine' },
    movable: { type: 'boolean', description: 'Whether it can be moved: `CURD_CLOCK=movable`' },
  },
  examples: [
    {
      now: '2026-01-18T09:30:00.000Z',
      system: '2026-01-15T09:30:00.000Z',
      advancedBy: 'P3D',
      movable: true,
    },
  ],
} as const;

export const SandboxClockAdvance = {
  title: 'SandboxClockAdvance',
  description: 'Exactly one of both members',
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  properties: {
    advance: {
      type: 'string',
      maxLength: 16,
      rule: durationRule,
      description: 'How far, such as `90s`, `15m`, `24h` or `3d`: at most 366 days',
      examples: ['3d'],
    },
    to: {
      type: 'string',
      format: 'date-time',
      maxLength: 40,
      rule: timestampRule,
      description: 'The time to reach, which is not in the past of the shop',
    },
  },
  examples: [{ advance: '3d' }],
} as const;

export const SandboxClockAdvanced = {
  title: 'SandboxClockAdvanced',
  type: 'object',
  required: ['now', 'did', 'more'],
  properties: {
    now: { ...timestampSchema, description: 'The time that was reached' },
    did: {
      type: 'object',
      description: 'What became due on the way and was done',
      required: ['approved', 'cancelled', 'shipped', 'delivered', 'deliveries'],
      properties: {
        approved: count,
        cancelled: { ...count, description: 'Orders whose cheeses were no longer available' },
        shipped: { ...count, description: 'With CURD_AUTO_SHIP' },
        delivered: { ...count, description: 'With CURD_AUTO_DELIVER' },
        deliveries: { ...count, description: 'Requests that were sent to webhook endpoints' },
      },
    },
    more: {
      type: 'boolean',
      description: 'Whether it stopped early, after 10,000 jobs or 30 seconds: send a further request',
    },
  },
  examples: [
    {
      now: '2026-01-18T09:30:00.000Z',
      did: { approved: 3, cancelled: 0, shipped: 0, delivered: 0, deliveries: 7 },
      more: false,
    },
  ],
} as const;
