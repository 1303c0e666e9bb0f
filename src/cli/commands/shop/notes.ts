/** Notes about orders and customers. */
import type { ComposedShop } from '../../../app/compose.ts';
import { validationError } from '../../../errors.ts';
import { type Note, NoteInput, type NoteSubject } from '../../../notes/schemas.ts';
import { notesMax } from '../../../notes/service.ts';
import { validate } from '../../../schema/validate.ts';
import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import type { CommandOptions } from '../../framework/options.ts';
import { type Columns, formatTable, printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

type Shop = Pick<ComposedShop, 'customers'>;

const customerOf = async ({ customers }: Shop, username: string): Promise<NoteSubject> => ({
  customerId: await customers.administration.idOf(username),
});

function create(
  options: ChangeOptions,
  text: string,
  subjectOf: (shop: Shop) => Promise<NoteSubject>,
): Promise<void> {
  return makeChange(options, async (shop, context) => {
    const { errors } = validate(NoteInput, { text }, true);
    if (errors.length > 0) {
      throw validationError(errors);
    }
    const note = await shop.notes.service.create(context, await subjectOf(shop), { text });
    return { value: note, text: `The note is stored as ${note.id}.` };
  });
}

function list(options: CommandOptions, subjectOf: (shop: Shop) => Promise<NoteSubject>): Promise<void> {
  return withShop(options, async (shop) => {
    const { items } = await shop.notes.service.list(await subjectOf(shop), { limit: notesMax });
    const columns: Columns<Note> = {
      id: ({ id }) => id,
      created: ({ createdAt }) => createdAt,
      author: ({ author }) => author,
      text: ({ text }) => text,
    };
    printResult(options, { items }, formatTable(columns, items, 'There are no notes.'));
  });
}

export function noteOrder(orderId: number, text: string, options: ChangeOptions): Promise<void> {
  return create(options, text, async () => ({ orderId }));
}

export function noteCustomer(username: string, text: string, options: ChangeOptions): Promise<void> {
  return create(options, text, (shop) => customerOf(shop, username));
}

export function listOrderNotes(orderId: number, options: CommandOptions): Promise<void> {
  return list(options, async () => ({ orderId }));
}

export function listCustomerNotes(username: string, options: CommandOptions): Promise<void> {
  return list(options, (shop) => customerOf(shop, username));
}
