/** Schemas of imports over HTTP. */

import { Cheese } from '../cheeses/schemas.ts';
import { int64 } from '../schema/parts.ts';
import { importFields } from './column-mapping.ts';
import { importModes, sampleSize } from './import-cheeses.ts';
import { shownTextMax } from './row-changes.ts';

/** How many refused rows and remarks a response lists. */
export const listedRowsMax = 100;

const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;
const line = {
  type: 'integer',
  description: 'Line of the row in the file; in a JSON array, its position from 1',
} as const;
const shownValue = { type: ['string', 'number', 'boolean', 'null'] } as const;
const change = {
  type: 'object',
  required: ['from', 'to'],
  properties: { from: shownValue, to: shownValue },
} as const;
const columnNames = { type: 'array', items: { type: 'string' } } as const;

export const ImportReport = {
  title: 'ImportReport',
  description: 'What an import has done, or as a preview would do',
  type: 'object',
  required: [
    'preview',
    'mode',
    'columns',
    'mapping',
    'rows',
    'created',
    'updated',
    'unchanged',
    'refused',
    'refusedCount',
    'changed',
    'remarks',
    'sample',
  ],
  properties: {
    preview: { type: 'boolean', description: 'true: nothing was written' },
    mode: { type: 'string', enum: importModes },
    columns: { ...columnNames, description: 'Columns of the file, or members of its first object' },
    mapping: {
      type: 'object',
      description: 'The columns from which each field was read',
      properties: Object.fromEntries(importFields.map((field) => [field, columnNames])),
    },
    rows: count('Rows of the file that have a value'),
    created: count('New cheeses'),
    updated: count('Changed cheeses; only in mode `update`'),
    unchanged: count('Rows that equal their cheese'),
    refused: {
      type: 'array',
      description: `The first ${listedRowsMax} rows that were not imported`,
      items: {
        type: 'object',
        required: ['line', 'name', 'reason'],
        properties: {
          line,
          name: { type: ['string', 'null'], description: 'As the row has it; null without a name' },
          reason: { type: 'string' },
        },
      },
    },
    refusedCount: count('All rows that were not imported'),
    changed: {
      type: 'array',
      description: `The first ${listedRowsMax} changed cheeses; only in mode \`update\``,
      items: {
        type: 'object',
        required: ['line', 'cheeseId', 'name', 'changes'],
        properties: {
          line,
          cheeseId: int64,
          name: { type: 'string' },
          changes: {
            type: 'object',
            description: `The changed fields. Lists are text with commas; texts are cut after ${shownTextMax} characters`,
            required: [],
            properties: Object.fromEntries(importFields.map((field) => [field, change])),
          },
        },
      },
    },
    remarks: {
      type: 'array',
      description: `The first ${listedRowsMax} values that were left out of their cheese`,
      items: {
        type: 'object',
        required: ['line', 'remark'],
        properties: { line, remark: { type: 'string' } },
      },
    },
    sample: {
      type: 'array',
      description: `The first ${sampleSize} rows. In a preview, new cheeses have negative ids`,
      items: {
        type: 'object',
        required: ['line', 'outcome'],
        properties: {
          line,
          outcome: { type: 'string', enum: ['created', 'updated', 'unchanged', 'refused'] },
          cheese: Cheese,
        },
      },
    },
  },
  examples: [
    {
      preview: true,
      mode: 'create',
      columns: ['name', 'category', 'pricePerKg'],
      mapping: { name: ['name'], category: ['category'], pricePerKg: ['pricePerKg'] },
      rows: 2,
      created: 1,
      updated: 0,
      unchanged: 0,
      refused: [{ line: 3, name: 'Brie', reason: 'pricePerKg: must be at least 0' }],
      refusedCount: 1,
      changed: [],
      remarks: [],
      sample: [
        { line: 2, outcome: 'created', cheese: { ...Cheese.examples[0], id: -1 } },
        { line: 3, outcome: 'refused' },
      ],
    },
  ],
} as const;
