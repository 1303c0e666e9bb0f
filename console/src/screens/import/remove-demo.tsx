/** A button that removes the demo cheeses, while there are some that were not changed and never ordered. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useApi, useCurd } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';

export function RemoveDemo() {
  const curd = useCurd();
  const [isOpen, setOpen] = useState(false);
  const { data } = useApi(['cheeses', 'demo'], (api) => api.demo.delete({ dryRun: true }));
  if (data === undefined || (data.removed.length === 0 && !isOpen)) {
    return null;
  }
  const { removed, kept } = data;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        Remove the demo
      </Button>
      {isOpen ? (
        <Confirm
          title={`Remove ${removed.length} demo cheeses`}
          action="Remove"
          text={`Demo cheeses that you have changed are yours, and stay.${kept.length === 0 ? '' : ` These were ordered, and stay, too: ${kept.join(', ')}.`}`}
          onConfirm={async () => {
            await curd.demo.delete();
            await invalidate('cheeses', 'stock');
          }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
