/** Sets the status of many cheeses, or deletes them after their effects were shown. */
import { useRef, useState } from 'react';
import type { Cheese } from '../../../../../client/src/index.ts';
import { useCurd } from '../../../data/queries.ts';
import { Bulk } from '../../../parts/dialogs/bulk.tsx';
import { Confirm } from '../../../parts/dialogs/confirm.tsx';
import { readDeletionEffects } from '../deletion.ts';
import type { CheeseStatus } from './filters.ts';

export type BulkAction = CheeseStatus | 'delete';

interface Props {
  readonly action: BulkAction;
  readonly cheeses: readonly Cheese[];
  /** @param isDone false when nothing was sent */
  readonly onClose: (isDone: boolean) => void;
}

export function CheeseBulk({ action, cheeses, onClose }: Props) {
  const curd = useCurd();
  // The list is read again while the action runs: what was selected stays.
  const [items] = useState(cheeses);
  const [isConfirmed, setConfirmed] = useState(action !== 'delete');
  const isGoing = useRef(false);
  const count = items.length === 1 ? '1 cheese' : `${items.length} cheeses`;
  const names = Object.fromEntries(items.map(({ id, name }) => [`cheese:${id}`, name]));
  const title =
    action === 'delete'
      ? `Delete ${items.length === 1 ? items[0]?.name : count}`
      : `Set ${count} to ${action}`;
  if (!isConfirmed) {
    return (
      <Confirm
        title={title}
        action="Delete"
        typed={items.length === 1 ? undefined : title.toLowerCase()}
        names={names}
        readEffects={() => readDeletionEffects(curd, items)}
        onConfirm={async () => {
          isGoing.current = true;
          setConfirmed(true);
        }}
        onClose={() => (isGoing.current ? undefined : onClose(false))}
      />
    );
  }
  return (
    <Bulk
      title={title}
      items={items}
      nameOf={({ name, id }) => `${name} (${id})`}
      run={({ id }) =>
        action === 'delete' ? curd.cheeses.delete(id) : curd.cheeses.patch(id, { status: action })
      }
      onClose={() => onClose(true)}
    />
  );
}
