/** Reads and changes discount codes. */
import { type Clock, parseTime, timestamp } from '../clock.ts';
import type { Cursors } from '../cursor.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { dollars, wholeCents } from '../decimal.ts';
import { AppError, type FieldError, requireNoErrors } from '../errors.ts';
import type { NewEvent } from '../event-log/define.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { discountChanged, discountCreated, discountDeleted } from './event-types.ts';
import { type DiscountRow, discountQueries } from './queries.ts';
import { checkDiscount, codeRule, type Discount, type DiscountInput, type DiscountPatch } from './schemas.ts';
import { shownValue } from './uses.ts';

/** Enough for a code for each customer of a large shop. */
export const discountsMax = 100_000;

interface Dependencies {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly cursors: Cursors;
}

/** What a cursor contains. */
interface Position {
  readonly before: number;
}

export type DiscountService = ReturnType<typeof createDiscountService>;

export function createDiscountService({ database, clock, cursors }: Dependencies) {
  async function lockRow(
    tx: Sql,
    code: string,
    precondition: Precondition | undefined,
  ): Promise<DiscountRow> {
    const row = await discountQueries(tx).lock(codeIn(code));
    if (row === undefined) {
      throw noCode();
    }
    precondition?.(toVersion(row));
    return row;
  }

  const record = (tx: Sql, context: Context, event: NewEvent) =>
    recordEvents(tx, context.origin, timestamp(clock.now()), [event]);

  return {
    /** The newest first. @throws AppError badRequest */
    async list({ cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number }) {
      const { before }: Position =
        cursor === undefined ? { before: Number.MAX_SAFE_INTEGER } : (cursors.decode(cursor) as Position);
      const rows = await discountQueries(database).list(before, limit + 1);
      const { page, ...end } = cursors.page(rows, limit, ({ id }): Position => ({ before: id }));
      return { items: page.map(toDiscount), ...end };
    },

    /** @throws AppError notFound */
    async find(code: string): Promise<Versioned> {
      const row = await discountQueries(database).find(codeIn(code));
      if (row === undefined) {
        throw noCode();
      }
      return toVersioned(row);
    },

    /** @throws AppError validation, conflict if the code exists */
    create: (context: Context, { code, kind, ...stated }: DiscountInput): Promise<Versioned> =>
      context.transaction(async (tx) => {
        const queries = discountQueries(tx);
        await queries.lockNumber();
        if ((await queries.count()) >= discountsMax) {
          throw new AppError(
            'conflict',
            `There are ${discountsMax} codes already, which is the maximum. Delete some.`,
          );
        }
        const values = { ...newDiscount, ...stated };
        const created = await queries.insert({
          ...toColumns(kind, values),
          code,
          kind,
          created_at: timestamp(clock.now()),
        });
        if (created === undefined) {
          throw new AppError('conflict', `The code ${code} exists already.`, {
            errors: [{ field: 'code', message: 'is taken' }],
          });
        }
        await record(tx, context, discountCreated.of(subjectOf(code), { code }));
        return toVersioned(created);
      }),

    /** @throws AppError notFound, preconditionFailed, validation */
    change: (
      context: Context,
      code: string,
      patch: DiscountPatch,
      precondition?: Precondition,
    ): Promise<Versioned> =>
      context.transaction(async (tx) => {
        const row = await lockRow(tx, code, precondition);
        const before = toDiscount(row);
        const next = { ...row, ...toColumns(row.kind, { ...before, ...patch }), version: row.version + 1 };
        const after = toDiscount(next);
        const changed = (Object.keys(before) as (keyof Discount)[]).filter(
          (name) => before[name] !== after[name],
        );
        if (changed.length === 0) {
          return toVersioned(row);
        }
        await discountQueries(tx).update(next);
        await record(tx, context, discountChanged.of(subjectOf(row.code), { code: row.code, changed }));
        return toVersioned(next);
      }),

    /** Orders keep what they had. @throws AppError notFound, preconditionFailed */
    delete: (context: Context, code: string, precondition?: Precondition) =>
      context.transaction(async (tx) => {
        const row = await lockRow(tx, code, precondition);
        await discountQueries(tx).delete(row.id);
        await record(tx, context, discountDeleted.of(subjectOf(row.code), { code: row.code }));
      }),
  };
}

/** The code in a path. @throws AppError notFound */
function codeIn(text: string): string {
  const code = codeRule.clean(text);
  if (!codeRule.test(code)) {
    throw noCode();
  }
  return code;
}

const noCode = () => new AppError('notFound', 'There is no discount with this code.');

const newDiscount = {
  value: null,
  from: null,
  startsAt: null,
  endsAt: null,
  usesMax: null,
  usesPerCustomer: null,
  isEnabled: true,
} as const;

const subjectOf = (code: string) => `discount:${code}`;

/** @throws AppError validation */
function toColumns(kind: Discount['kind'], values: Required<DiscountPatch>) {
  const { value, from, startsAt, endsAt } = values;
  const errors: FieldError[] = [];
  checkDiscount(errors, { kind, value, startsAt, endsAt });
  requireNoErrors(errors);
  return {
    value: value === null || kind === 'percent' ? value : wholeCents(value),
    from_cents: from === null ? null : wholeCents(from),
    starts_at: startsAt === null ? null : timestamp(parseTime(startsAt)),
    ends_at: endsAt === null ? null : timestamp(parseTime(endsAt)),
    uses_max: values.usesMax,
    uses_per_customer: values.usesPerCustomer,
    is_enabled: values.isEnabled ? (1 as const) : (0 as const),
  };
}

function toDiscount(row: DiscountRow): Discount {
  return {
    code: row.code,
    kind: row.kind,
    value: shownValue(row),
    from: row.from_cents === null ? null : dollars(row.from_cents),
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    usesMax: row.uses_max,
    usesPerCustomer: row.uses_per_customer,
    isEnabled: row.is_enabled === 1,
    used: row.used,
    createdAt: row.created_at,
  };
}

/** The response has the number of uses, so a use changes its ETag. */
const toVersion = ({ version, used }: DiscountRow) => `${version}-${used}`;

function toVersioned(row: DiscountRow): Versioned {
  return { id: row.id, version: toVersion(row), body: JSON.stringify(toDiscount(row)) };
}
