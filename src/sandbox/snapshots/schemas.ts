/** Schemas of resets and snapshots. */
import { int64, timestampSchema } from '../../schema/parts.ts';
import { lineRule } from '../../schema/text-rules.ts';

const snapshotExample = {
  id: 3,
  name: 'before the tests',
  createdAt: '2026-01-15T09:30:00.000Z',
  bytes: 786_432,
};

export const Snapshot = {
  title: 'Snapshot',
  type: 'object',
  required: ['id', 'name', 'createdAt', 'bytes'],
  properties: {
    id: int64,
    name: { type: 'string' },
    createdAt: { ...timestampSchema, description: 'By the clock of the shop' },
    bytes: { type: 'integer', description: 'Size of the copy, without the files of images' },
  },
  examples: [snapshotExample],
} as const;

export const SnapshotList = {
  title: 'SnapshotList',
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: Snapshot } },
  examples: [{ items: [snapshotExample] }],
} as const;

export const SnapshotInput = {
  title: 'SnapshotInput',
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100, rule: lineRule, description: 'What you call it' },
  },
  examples: [{ name: 'before the tests' }],
} as const;

export const ResetInput = {
  title: 'ResetInput',
  type: 'object',
  required: ['confirm'],
  properties: { confirm: { type: 'boolean', enum: [true], description: 'true: delete what the shop has' } },
  examples: [{ confirm: true }],
} as const;

export const ShopTime = {
  title: 'ShopTime',
  type: 'object',
  required: ['now'],
  properties: { now: { ...timestampSchema, description: 'The time of the shop' } },
  examples: [{ now: '2026-01-15T09:30:00.000Z' }],
} as const;
