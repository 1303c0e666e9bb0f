/** Reads and changes delivery methods. */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError, type FieldError, requireNoErrors } from '../errors.ts';
import type { NewEvent } from '../event-log/define.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { methodChanged, methodCreated, methodDeleted } from './event-types.ts';
import { type MethodRow, methodQueries } from './queries.ts';
import {
  checkMethod,
  type DeliveryMethod,
  type DeliveryMethodInput,
  type DeliveryMethodPatch,
  methodMembers,
  methodsMax,
  newMethod,
} from './schemas.ts';

type MethodBody = Omit<DeliveryMethod, 'id'>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
}

export type DeliveryService = ReturnType<typeof createDeliveryService>;

export function createDeliveryService({ database, clock }: Dependencies) {
  async function lockRow(tx: Sql, id: number, precondition: Precondition | undefined): Promise<MethodRow> {
    const row = await methodQueries(tx).lock(id);
    if (row === undefined) {
      throw noMethod(id);
    }
    precondition?.(row.version);
    return row;
  }

  /** Orders read all methods, which seldom change. */
  const parsed = new Map<number, { readonly version: number; readonly method: DeliveryMethod }>();
  function parse(row: MethodRow): DeliveryMethod {
    const known = parsed.get(row.id);
    if (known?.version === row.version) {
      return known.method;
    }
    const method = toMethod(row);
    if (parsed.size > 2 * methodsMax) {
      // Methods that were deleted.
      parsed.clear();
    }
    parsed.set(row.id, { version: row.version, method });
    return method;
  }

  const record = (tx: Sql, context: Context, event: NewEvent) =>
    recordEvents(tx, context.origin, timestamp(clock.now()), [event]);

  /** All methods by their positions. */
  async function list(sql: Sql): Promise<DeliveryMethod[]> {
    const rows = await methodQueries(sql).list();
    return rows.map(parse).sort((a, b) => a.position - b.position || a.id - b.id);
  }

  return {
    list: () => list(database),

    /** The methods that customers can choose. */
    listEnabled: async (sql: Sql): Promise<DeliveryMethod[]> =>
      (await list(sql)).filter(({ isEnabled }) => isEnabled),

    /** @param seesAll also methods that are not enabled @throws AppError notFound */
    async find(id: number, seesAll: boolean): Promise<Versioned> {
      const row = await methodQueries(database).find(id);
      if (row === undefined || !(seesAll || toMethod(row).isEnabled)) {
        throw noMethod(id);
      }
      return toVersioned(row);
    },

    /** @throws AppError validation, conflict when there are too many */
    create: (context: Context, input: DeliveryMethodInput): Promise<Versioned> =>
      context.transaction(async (tx) => {
        const queries = methodQueries(tx);
        await queries.lockNumber();
        if ((await queries.count()) >= methodsMax) {
          throw new AppError(
            'conflict',
            `There are ${methodsMax} delivery methods already, which is the maximum. Delete one first.`,
          );
        }
        const body = toBody(newMethod, input);
        const id = (await queries.insert(JSON.stringify(body)))?.id ?? Number.NaN;
        await record(tx, context, methodCreated.of(subjectOf(id), { id, name: body.name }));
        return toVersioned({ id, version: 1, body: JSON.stringify(body) });
      }),

    /** @throws AppError notFound, preconditionFailed, validation */
    change: (context: Context, id: number, patch: DeliveryMethodPatch, precondition?: Precondition) =>
      context.transaction(async (tx) => {
        const row = await lockRow(tx, id, precondition);
        const before: MethodBody = JSON.parse(row.body);
        const after = toBody(before, patch);
        const changed = methodMembers.filter(
          (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
        );
        if (changed.length === 0) {
          return toVersioned(row);
        }
        const next = { id, version: row.version + 1, body: JSON.stringify(after) };
        await methodQueries(tx).update(next);
        await record(tx, context, methodChanged.of(subjectOf(id), { id, name: after.name, changed }));
        return toVersioned(next);
      }),

    /** Orders keep what they had. @throws AppError notFound, preconditionFailed */
    delete: (context: Context, id: number, precondition?: Precondition) =>
      context.transaction(async (tx) => {
        const { body } = await lockRow(tx, id, precondition);
        await methodQueries(tx).delete(id);
        await record(tx, context, methodDeleted.of(subjectOf(id), { id, name: JSON.parse(body).name }));
      }),
  };
}

const noMethod = (id: number) => new AppError('notFound', `There is no delivery method with the id ${id}.`);

const subjectOf = (id: number) => `delivery_method:${id}`;

function toMethod({ id, body }: MethodRow): DeliveryMethod {
  return { id, ...(JSON.parse(body) as MethodBody) };
}

function toVersioned(row: MethodRow): Versioned {
  return { id: row.id, version: row.version, body: JSON.stringify(toMethod(row)) };
}

/** The members in the order of the schema. @throws AppError validation */
function toBody(before: Partial<MethodBody>, stated: DeliveryMethodPatch): MethodBody {
  const merged = { ...before, ...stated };
  const body = Object.fromEntries(methodMembers.map((name) => [name, merged[name]])) as unknown as MethodBody;
  const errors: FieldError[] = [];
  checkMethod(errors, body);
  requireNoErrors(errors);
  return { ...body, countries: body.countries?.map((country) => country.toUpperCase()) ?? null };
}
