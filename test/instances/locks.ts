/** Compares the locks of transactions with the lock order. */
import { lockedWith, lockOrder } from '../../src/database/lock-order.ts';
import type { SentStatement } from './statements.ts';

/** A lock that a statement waits for, or takes without waiting. */
interface Lock {
  readonly name: string;
  /** Where the statement locks what it has not read before: `for update` and `for share`. */
  readonly isExplicit: boolean;
  readonly waits: boolean;
}

/** Tables with one row that transactions lock: a second lock of it is the same. */
const singleRows = new Set(['catalogue', 'stock_count', 'event_log', 'statistic_position']);

/** Changes of rows. Inserted rows are not seen by others before the commit. */
const changes = [
  /\bupdate (\w+) set\b/g,
  /\bdelete from (\w+)/g,
  /\binsert into (\w+)(?:(?!\binsert into\b).)*? on conflict (?:\([^)]*\) )?do update/g,
];

/** The table of the `select` that ends with a lock: the last `from` before it that is in no inner parentheses. */
function lockedTable(line: string, end: number): string {
  let depth = 0;
  for (let index = end; index > 0; index -= 1) {
    depth += line[index] === ')' ? 1 : line[index] === '(' ? -1 : 0;
    const [, table] = (depth === 0 && /^ from (\w+)/.exec(line.slice(index, index + 60))) || [];
    if (table !== undefined) {
      return table;
    }
  }
  return 'unknown';
}

function locksOf({ text, values }: SentStatement): Lock[] {
  const line = text.replaceAll(/\s+/g, ' ');
  if (line.includes('pg_advisory_xact_lock(hashtextextended(')) {
    const found = lockOrder.find(
      (name) => name.startsWith('advisory ') && values[0]?.startsWith(name.slice(9)),
    );
    return [{ name: found ?? `advisory ${values[0]}`, isExplicit: true, waits: true }];
  }
  if (line.includes('pg_advisory_xact_lock(')) {
    return [{ name: 'advisory exclusive transactions', isExplicit: true, waits: true }];
  }
  const kind = values.find((value) => value !== null && /^(order|stock|webhook)\.\w+$/.test(value));
  const nameOf = (table: string) => (table === 'background_job' ? `${table} ${kind}` : table);
  const explicit = [...line.matchAll(/ for (?:update|share)( skip locked)?/g)].map(({ index, 1: skips }) => ({
    name: nameOf(lockedTable(line, index)),
    // Deletions in order also delete rows that are locked.
    isExplicit: !line.trimStart().startsWith('delete'),
    waits: skips === undefined,
  }));
  const changed = changes.flatMap((pattern) =>
    [...line.matchAll(pattern)].map(([, table = '']) => ({
      name: nameOf(table),
      isExplicit: false,
      waits: true,
    })),
  );
  return [...explicit, ...changed];
}

const places = new Map<string, number>(lockOrder.map((name, index) => [name, index]));

/**
 * Where a transaction locks against the order. A later change of rows that it has locked is none, and neither is its
 * first lock, because it waits with nothing.
 */
export function violationsOf(statements: readonly SentStatement[]): string[] {
  const held = new Set<string>();
  const violations: string[] = [];
  for (const statement of statements) {
    for (const { name, isExplicit, waits } of locksOf(statement)) {
      const place = places.get(name);
      const isKnown = held.has(name) && (!isExplicit || singleRows.has(name));
      const owner = lockedWith[name];
      if (owner !== undefined) {
        violations.push(...(held.has(owner) ? [] : [`${name} without ${owner}`]));
        continue;
      }
      if (place === undefined) {
        if (held.size > 0 && !held.has(name)) {
          violations.push(`${name} is not in the lock order, after ${[...held].join(', ')}`);
        }
      } else if (waits && !isKnown) {
        const later = [...held].filter((other) => other !== name && (places.get(other) ?? 0) > place);
        violations.push(...later.map((other) => `${name} after ${other}`));
      }
      held.add(name);
    }
  }
  return violations;
}
