/** Schemas of notes. */
import type { XStatic } from 'typebox/schema';
import { cursorParameter, int64, limitParameter, pageOf, timestampSchema } from '../schema/parts.ts';
import type { Parameters, TextRule } from '../schema/schema.ts';
import { multilineRule } from '../schema/text-rules.ts';

const textRule: TextRule = {
  test: (text) => /\S/u.test(text) && multilineRule.test(text),
  message:
    'must contain at least one visible character, and no control characters other than tabs and line breaks',
};
const example = 'Called on Monday: deliver to the back door.';

/** What a note is about. */
export type NoteSubject = { readonly orderId: number } | { readonly customerId: number };

export const NoteInput = {
  title: 'NoteInput',
  type: 'object',
  required: ['text'],
  properties: {
    text: { type: 'string', minLength: 1, maxLength: 2000, rule: textRule, examples: [example] },
  },
  examples: [{ text: example }],
} as const;
export type NoteInput = XStatic<typeof NoteInput>;

export const Note = {
  title: 'Note',
  description: 'What an operator noted about a customer or an order. Customers never see it',
  type: 'object',
  required: ['id', 'text', 'author', 'createdAt'],
  properties: {
    id: int64,
    text: { type: 'string' },
    author: { type: 'string', description: 'The credential (key:3, customer:7), cli for a command' },
    createdAt: timestampSchema,
  },
  examples: [{ id: 5, text: example, author: 'key:3', createdAt: '2026-01-15T09:30:00.000Z' }],
} as const;
export type Note = XStatic<typeof Note>;

export const NoteList = pageOf('NoteList', Note, 'The newest first');
export type NoteList = XStatic<typeof NoteList>;

export const noteListQuery = {
  cursor: cursorParameter(1000),
  limit: limitParameter('Notes on a page'),
} as const satisfies Parameters;
