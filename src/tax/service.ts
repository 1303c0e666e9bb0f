/** Reads and changes tax rates. */
import { type Clock, timestamp } from '../clock.ts';
import type { Cursors } from '../cursor.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { AppError, parameterError } from '../errors.ts';
import type { EventDefinition, NewEvent } from '../event-log/define.ts';
import { recordEvents } from '../event-log/record.ts';
import type { Precondition, Versioned } from '../versioned.ts';
import { type AppliedRate, chooseRate, keysAt, type RatePlace } from './choose-rate.ts';
import { rateChanged, rateCreated, rateDeleted } from './event-types.ts';
import { type NewRate, type RateRow, rateQueries } from './queries.ts';
import { rateKeyOf, toMilliPercent, toNewRow } from './rate-rows.ts';
import { ratesMax, type TaxRate, type TaxRateInput, type TaxRatePatch } from './schemas.ts';

interface Dependencies {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly cursors: Cursors;
}

/** What a cursor contains. */
interface Position {
  readonly country: string;
  readonly after: number;
}

/** What happened to a rate of a file. */
export type ReplaceOutcome = 'created' | 'updated' | 'unchanged' | { readonly reason: string };

export type TaxService = ReturnType<typeof createTaxService>;

export function createTaxService({ database, clock, cursors }: Dependencies) {
  const record = (tx: Sql, context: Context, event: RateEvent, row: RateRow) =>
    recordEvents(tx, context.origin, timestamp(clock.now()), [eventOf(event, row)]);

  async function lockRow(tx: Sql, id: number, precondition: Precondition | undefined): Promise<RateRow> {
    const row = await rateQueries(tx).lock(id);
    if (row === undefined) {
      throw noRate(id);
    }
    precondition?.(row.version);
    return row;
  }

  function positionOf(cursor: string | undefined, country: string): Position {
    const position = cursor === undefined ? { country, after: 0 } : (cursors.decode(cursor) as Position);
    if (country !== '' && position.country !== country) {
      throw parameterError('cursor', 'it belongs to the rates of another country. Send no cursor.');
    }
    return position;
  }

  /** Returns what happened, and the event of it. */
  async function replaceOne(
    tx: Sql,
    rate: NewRate,
    stored: RateRow | undefined,
    hasRoom: boolean,
  ): Promise<{ readonly outcome: ReplaceOutcome; readonly row?: RateRow }> {
    const queries = rateQueries(tx);
    if (stored !== undefined) {
      const isEqual = stored.milli_percent === rate.milli_percent && stored.name === rate.name;
      const row = {
        ...stored,
        version: stored.version + 1,
        milli_percent: rate.milli_percent,
        name: rate.name,
      };
      if (isEqual) {
        return { outcome: 'unchanged' };
      }
      await queries.update(row);
      return { outcome: 'updated', row };
    }
    if (!hasRoom) {
      return { outcome: { reason: tooMany } };
    }
    const id = (await queries.insert(rate))?.id;
    return id === undefined
      ? { outcome: { reason: 'somebody creates an equal rate at this moment: import the file again' } }
      : { outcome: 'created', row: { ...rate, id, version: 1 } };
  }

  return {
    /**
     * Creates rates, or replaces the percentage and the name of equal ones, in one transaction.
     * @param rates have different keys @param previewed how many rates count in addition to the stored ones
     */
    replaceAll: (context: Context, rates: readonly NewRate[], previewed: number): Promise<ReplaceOutcome[]> =>
      context.transaction(async (tx) => {
        const queries = rateQueries(tx);
        await queries.lockNumber();
        const stored = new Map((await queries.lockEqual(rates)).map((row) => [rateKeyOf(row), row]));
        let room = ratesMax - previewed - (await queries.count());
        const outcomes: ReplaceOutcome[] = [];
        const events: NewEvent[] = [];
        for (const rate of rates) {
          const { outcome, row } = await replaceOne(tx, rate, stored.get(rateKeyOf(rate)), room > 0);
          outcomes.push(outcome);
          if (row !== undefined) {
            room -= outcome === 'created' ? 1 : 0;
            events.push(eventOf(outcome === 'created' ? rateCreated : rateChanged, row));
          }
        }
        await recordEvents(tx, context.origin, timestamp(clock.now()), events);
        return outcomes;
      }),

    /** Lists rates by their creation. @throws AppError badRequest */
    async list({
      country,
      cursor,
      limit,
    }: {
      country?: string | undefined;
      cursor?: string | undefined;
      limit: number;
    }) {
      const position = positionOf(cursor, (country ?? '').toUpperCase());
      const rows = await rateQueries(database).list(position.country, position.after, limit + 1);
      const { page, ...end } = cursors.page(rows, limit, ({ id }): Position => ({ ...position, after: id }));
      return { items: page.map(toRate), ...end };
    },

    /** @throws AppError notFound */
    async find(id: number): Promise<Versioned> {
      const row = await rateQueries(database).find(id);
      if (row === undefined) {
        throw noRate(id);
      }
      return toVersioned(row);
    },

    /** The rate of each category at a place; no entry if there is none. */
    async findAt(
      sql: Sql,
      place: RatePlace,
      categories: readonly string[],
    ): Promise<(category: string | undefined) => AppliedRate | null> {
      const rows = await rateQueries(sql).listFor(keysAt(place, categories));
      return (category) => {
        const row = chooseRate(rows, category);
        return row === undefined ? null : { name: row.name, milliPercent: row.milli_percent };
      };
    },

    /** @throws AppError validation, conflict with an equal one, or when there are too many */
    create: (context: Context, input: TaxRateInput): Promise<Versioned> =>
      context.transaction(async (tx) => {
        const queries = rateQueries(tx);
        await queries.lockNumber();
        if ((await queries.count()) >= ratesMax) {
          throw new AppError('conflict', tooMany);
        }
        const row = toNewRow(input);
        const id = (await queries.insert(row))?.id;
        if (id === undefined) {
          throw new AppError(
            'conflict',
            'There is a rate for this country, state, ZIP prefix and category already. Change its percentage with PATCH.',
          );
        }
        const stored = { ...row, id, version: 1 };
        await record(tx, context, rateCreated, stored);
        return toVersioned(stored);
      }),

    /** @throws AppError notFound, preconditionFailed */
    change: (
      context: Context,
      id: number,
      patch: TaxRatePatch,
      precondition?: Precondition,
    ): Promise<Versioned> =>
      context.transaction(async (tx) => {
        const row = await lockRow(tx, id, precondition);
        const next = {
          ...row,
          version: row.version + 1,
          milli_percent: patch.percent === undefined ? row.milli_percent : toMilliPercent(patch.percent),
          name: patch.name ?? row.name,
        };
        if (next.milli_percent === row.milli_percent && next.name === row.name) {
          return toVersioned(row);
        }
        await rateQueries(tx).update(next);
        await record(tx, context, rateChanged, next);
        return toVersioned(next);
      }),

    /** Orders keep what they had. @throws AppError notFound, preconditionFailed */
    delete: (context: Context, id: number, precondition?: Precondition) =>
      context.transaction(async (tx) => {
        const row = await lockRow(tx, id, precondition);
        await rateQueries(tx).delete(id);
        await record(tx, context, rateDeleted, row);
      }),
  };
}

const tooMany = `There are ${ratesMax} tax rates already, which is the maximum. Delete some.`;

type RateEvent = EventDefinition<
  string,
  { readonly id: number; readonly name: string; readonly percent: number }
>;

const eventOf = (event: RateEvent, { id, name, milli_percent }: RateRow): NewEvent =>
  event.of(`tax_rate:${id}`, { id, name, percent: milli_percent / 1000 });

const noRate = (id: number) => new AppError('notFound', `There is no tax rate with the id ${id}.`);

function toRate({ id, country, state, zip_prefix, category, milli_percent, name }: RateRow): TaxRate {
  return {
    id,
    country: country || null,
    state,
    zipPrefix: zip_prefix || null,
    category,
    percent: milli_percent / 1000,
    name,
  };
}

function toVersioned(row: RateRow): Versioned {
  return { id: row.id, version: row.version, body: JSON.stringify(toRate(row)) };
}
