/** Notes of operators about customers and orders. */
import { type Clock, timestamp } from '../clock.ts';
import type { Cursors } from '../cursor.ts';
import type { CustomerFinder } from '../customers/customer-finder.ts';
import type { CustomerService } from '../customers/service.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError, parameterError } from '../errors.ts';
import type { OrderReader } from '../orders/lists/order-reader.ts';
import { type NoteRow, noteQueries } from './queries.ts';
import type { Note, NoteInput, NoteSubject } from './schemas.ts';

/** Notes about one order, or about one customer. */
export const notesMax = 200;

interface Dependencies {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly cursors: Cursors;
  readonly customers: Pick<CustomerService, 'lockForShare'>;
  readonly customerFinder: Pick<CustomerFinder, 'findById'>;
  readonly orderReader: Pick<OrderReader, 'customerOf'>;
}

/** What a cursor contains. */
interface Position {
  readonly subject: NoteSubject;
  readonly before: number;
}

export type NoteService = ReturnType<typeof createNoteService>;

export function createNoteService(dependencies: Dependencies) {
  const { database, clock, cursors, customers, customerFinder, orderReader } = dependencies;

  const noCustomer = (id: number) => new AppError('notFound', `There is no customer with the id ${id}.`);

  /** The customer whose deletion deletes the note. @throws AppError notFound */
  async function ownerOf(subject: NoteSubject): Promise<number | null> {
    if ('orderId' in subject) {
      return orderReader.customerOf(subject.orderId, null);
    }
    if ((await customerFinder.findById(subject.customerId)) === undefined) {
      throw noCustomer(subject.customerId);
    }
    return subject.customerId;
  }

  function positionOf(subject: NoteSubject, cursor: string | undefined): number {
    if (cursor === undefined) {
      return Number.MAX_SAFE_INTEGER;
    }
    const position = cursors.decode(cursor) as Position;
    if (JSON.stringify(position.subject) !== JSON.stringify(subject)) {
      throw parameterError('cursor', 'it belongs to the notes about something else. Send no cursor.');
    }
    return position.before;
  }

  return {
    /** The newest first. @throws AppError notFound, badRequest */
    async list(
      subject: NoteSubject,
      { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
    ) {
      await ownerOf(subject);
      const rows = await noteQueries(database).list(subject, positionOf(subject, cursor), limit + 1);
      const { page, ...end } = cursors.page(rows, limit, ({ id }): Position => ({ subject, before: id }));
      return { items: page.map(toNote), ...end };
    },

    /** @throws AppError notFound, conflict when there are too many */
    async create(context: Context, subject: NoteSubject, { text }: NoteInput): Promise<Note> {
      const customerId = await ownerOf(subject);
      return context.transaction(async (tx) => {
        // The customer may be deleted meanwhile: then the order has none, and this note must not remain with the id.
        const isThere = customerId !== null && (await customers.lockForShare(tx, customerId));
        if ('customerId' in subject && !isThere) {
          throw noCustomer(subject.customerId);
        }
        const queries = noteQueries(tx);
        await queries.lockCount(subject);
        if ((await queries.count(subject)) >= notesMax) {
          throw new AppError(
            'conflict',
            `There are ${notesMax} notes already, which is the maximum. Delete one first: DELETE /v2/notes/{noteId}.`,
          );
        }
        const note = { author: context.origin.actor, body: text, created_at: timestamp(clock.now()) };
        const orderId = 'orderId' in subject ? subject.orderId : null;
        const row = await queries.insert(orderId, isThere ? customerId : null, note);
        return toNote({ ...note, id: row?.id ?? Number.NaN });
      });
    },

    /** @throws AppError notFound */
    delete: (context: Context, id: number) =>
      context.transaction(async (tx) => {
        if ((await noteQueries(tx).delete(id)) === 0) {
          throw new AppError('notFound', `There is no note with the id ${id}.`);
        }
      }),

    /** Deletes the notes about a customer and the customer's orders, in the transaction that deletes the customer. */
    async onCustomerDelete(tx: Sql, _: Context, { id }: { readonly id: number }) {
      await noteQueries(tx).deleteOfCustomer(id);
    },
  };
}

const toNote = ({ id, body, author, created_at }: NoteRow): Note => ({
  id,
  text: body,
  author,
  createdAt: created_at,
});
