/** Changes of one cheese that are made where it is listed. */

import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { type Body, type Cheese, type Curd, etagOf, isCurdError } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { Conflict } from '../../parts/dialogs/conflict.tsx';
import { notifications, showUndo } from '../../parts/notifications.tsx';
import { toMessage } from '../../session/session.ts';
import { nameOfField, showField } from './fields.ts';
import { showInLists } from './queries.ts';

export type CheeseChanges = Body<'patchCheese'>;

/** Changes of other fields by others between reading and writing. */
const attemptsMax = 3;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Fields of a change that another person has changed since it was read. */
function conflictsOf(changes: CheeseChanges, seen: Cheese, current: Cheese): (keyof CheeseChanges)[] {
  const fields = Object.keys(changes) as (keyof CheeseChanges)[];
  return fields.filter(
    (field) => !same(seen[field], current[field]) && !same(changes[field], current[field] ?? null),
  );
}

/** @returns the changed cheese, or the current one if another person has changed the same fields */
export async function patchCheese(curd: Curd, seen: Cheese, changes: CheeseChanges) {
  for (let attempt = 1; ; attempt += 1) {
    const current = await curd.cheeses.get(seen.id);
    if (conflictsOf(changes, seen, current).length > 0) {
      return { isConflict: true, cheese: current };
    }
    try {
      const cheese = await curd.cheeses.patch(seen.id, changes, { ifMatch: etagOf(current) });
      return { isConflict: false, cheese };
    } catch (error) {
      if (!isCurdError(error, 'precondition_failed') || attempt === attemptsMax) {
        throw error;
      }
    }
  }
}

/** The values that a change replaces. */
function valuesIn(seen: Cheese, changes: CheeseChanges): CheeseChanges {
  const fields = Object.keys(changes) as (keyof CheeseChanges)[];
  return Object.fromEntries(fields.map((field) => [field, seen[field] ?? null]));
}

/** "Beaufort: price €37.00 to €38.50" */
function sentenceOf(seen: Cheese, changes: CheeseChanges): string {
  const before: Readonly<Record<string, unknown>> = { ...seen };
  const texts = Object.entries(changes).map(
    ([field, value]) =>
      `${nameOfField(field)} ${showField(before[field], field)} to ${showField(value, field)}`,
  );
  return `${seen.name}: ${texts.join(', ')}`;
}

interface Open {
  readonly changes: CheeseChanges;
  readonly current: Cheese;
}

/** Changes cheeses in lists: shown at once, and undone with a notice when the server refuses. */
export function useListedChange(): {
  readonly change: (seen: Cheese, changes: CheeseChanges) => Promise<void>;
  readonly dialog: ReactNode;
} {
  const curd = useCurd();
  const client = useQueryClient();
  const [open, setOpen] = useState<Open | null>(null);

  const change = useCallback(
    async function change(seen: Cheese, changes: CheeseChanges, isUndo = false): Promise<void> {
      const { pricePerKg, ...rest } = { ...seen, ...changes };
      showInLists(client, { ...rest, ...(pricePerKg === null ? {} : { pricePerKg }) } as Cheese);
      try {
        const { isConflict, cheese } = await patchCheese(curd, seen, changes);
        showInLists(client, cheese);
        setOpen(isConflict ? { changes, current: cheese } : null);
        if (!isConflict && !isUndo) {
          showUndo(sentenceOf(seen, changes), () => change(cheese, valuesIn(seen, changes), true));
        }
      } catch (error) {
        showInLists(client, seen);
        notifications.show({
          color: 'red',
          title: `${seen.name} was not changed`,
          message: toMessage(error),
        });
      }
    },
    [curd, client],
  );

  const dialog =
    open === null ? null : (
      <Conflict
        title={open.current.name}
        mine={open.changes}
        theirs={open.current as unknown as Readonly<Record<string, unknown>>}
        nameOf={nameOfField}
        show={showField}
        onClose={() => setOpen(null)}
        onResolve={(kept) => {
          setOpen(null);
          if (kept.length > 0) {
            void change(open.current, open.changes);
          }
        }}
      />
    );
  return { change, dialog };
}
