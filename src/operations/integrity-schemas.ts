/** Schemas of stored results of consistency checks. */
import { objectOf, timestampSchema } from '../schema/parts.ts';

const count = { type: 'integer', minimum: 0 } as const;

const Finding = {
  title: 'Finding',
  description: 'An inconsistency or unsafe setting, or information',
  ...objectOf({
    fault: { type: 'string' },
    count,
    examples: { type: 'array', items: { type: 'string' }, description: 'At most five' },
    remedy: { type: 'string', description: 'What to do' },
    isNote: { type: 'boolean', description: 'true: information, not an error' },
  }),
  examples: [
    {
      fault: 'images with missing files',
      count: 1,
      examples: ['1f0c9d7a.jpg'],
      remedy: 'restore the files from a backup, or remove the URLs from the cheeses',
      isNote: false,
    },
  ],
} as const;

const DoctorRun = {
  title: 'DoctorRun',
  description: 'The result of one `curd doctor`',
  ...objectOf({
    at: { ...timestampSchema, description: 'When the run began' },
    seconds: { ...count, description: 'How long it ran' },
    faults: { ...count, description: 'Findings that are errors' },
    checks: {
      type: 'array',
      items: objectOf({
        check: { type: 'string', description: 'Such as `catalogue` or `orders`' },
        findings: { type: 'array', items: Finding },
      }),
    },
  }),
  examples: [
    {
      at: '2026-01-15T02:00:00.000Z',
      seconds: 12,
      faults: 1,
      checks: [
        { check: 'orders', findings: [] },
        { check: 'images', findings: Finding.examples },
      ],
    },
  ],
} as const;

export const DoctorRuns = {
  title: 'DoctorRuns',
  ...objectOf({ items: { type: 'array', items: DoctorRun, description: 'The last 30, newest first' } }),
  examples: [{ items: DoctorRun.examples }],
} as const;
