/** Routes of notes. */
import { anyOf, oauth } from '../access/access.ts';
import { parsePathId } from '../http/pipeline/path-id.ts';
import {
  conflictResponse,
  notFoundResponse,
  unprocessableResponse,
} from '../http/responses/error-responses.ts';
import { listRoute } from '../http/responses/list-route.ts';
import { type Route, route } from '../http/route.ts';
import { Note, NoteInput, NoteList, type NoteSubject, noteListQuery } from './schemas.ts';
import { type NoteService, notesMax } from './service.ts';

const tag = 'Notes';
const access = anyOf(oauth('admin'));
const uncached = { 'Cache-Control': 'no-store' } as const;
const kept = `At most ${notesMax}, which are deleted with the customer. Customers never see them.`;

type PathParameters = Readonly<Record<string, string>>;

/** What differs between notes about orders and about customers. */
interface Kind {
  readonly name: 'Order' | 'Customer';
  readonly path: string;
  readonly subjectOf: (params: PathParameters) => NoteSubject;
}

const noOrder = 'There is no such order.';
const noCustomer = 'There is no customer with this id.';

const kinds: readonly Kind[] = [
  {
    name: 'Order',
    path: '/store/order/:orderId/notes',
    subjectOf: ({ orderId }) => ({ orderId: parsePathId(orderId, noOrder) }),
  },
  {
    name: 'Customer',
    path: '/customers/:customerId/notes',
    subjectOf: ({ customerId }) => ({ customerId: parsePathId(customerId, noCustomer) }),
  },
];

export function noteRoutes(notes: NoteService): Route[] {
  return [
    ...kinds.flatMap((kind) => routesOf(notes, kind)),
    route({
      method: 'DELETE',
      path: '/notes/:noteId',
      operationId: 'deleteNote',
      tag,
      summary: 'Delete a note',
      description: 'About an order or a customer. It cannot be undone.',
      access,
      responses: {
        204: { description: 'The note is deleted' },
        ...notFoundResponse('There is no such note'),
      },
      handle: async ({ params, context }) => {
        await notes.delete(context, parsePathId(params.noteId, 'There is no such note.'));
        return { status: 204 };
      },
    }),
  ];
}

function routesOf(notes: NoteService, { name, path, subjectOf }: Kind): Route[] {
  const about = name === 'Order' ? 'an order' : 'a customer';
  const missing = notFoundResponse(name === 'Order' ? 'There is no such order' : 'There is no such customer');
  return [
    listRoute({
      path,
      operationId: `list${name}Notes`,
      tag,
      summary: `List the notes about ${about}`,
      description: `What operators noted, the newest first. ${kept}`,
      access,
      query: noteListQuery,
      page: { description: 'A page of notes', schema: NoteList },
      errors: missing,
      list: ({ params, query }) => notes.list(subjectOf(params), query),
    }),
    route({
      method: 'POST',
      path,
      operationId: `create${name}Note`,
      tag,
      summary: `Add a note about ${about}`,
      description: `With the author and the time. ${kept}`,
      access,
      body: NoteInput,
      responses: {
        201: { description: 'The note', schema: Note },
        ...missing,
        ...conflictResponse(`There are ${notesMax} notes already`),
        ...unprocessableResponse,
      },
      handle: ({ params, body, withIdempotency }) =>
        withIdempotency(
          (context) => notes.create(context, subjectOf(params), body),
          (note) => ({ status: 201, headers: uncached, body: { ...note } }),
        ),
    }),
  ];
}
