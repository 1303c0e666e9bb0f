/** A button that removes the demo cheeses, while there are some that were not changed and never ordered. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useApi, useCurd } from '../../data/queries.ts';
import { shopCommand, shopEnvironment } from '../../environment.ts';
import { invalidate } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';

const namedMax = 5;

function keptText(kept: readonly string[]): string {
  const more = kept.length > namedMax ? ` and ${kept.length - namedMax} more` : '';
  return kept.length === 0
    ? ''
    : ` These were ordered, and stay, too: ${kept.slice(0, namedMax).join(', ')}${more}.`;
}

const othersText =
  shopEnvironment === 'production'
    ? ''
    : ` Customers and orders stay, also those that ${shopCommand} seed invented: Reset under Sandbox removes all of them, with all cheeses.`;

export function RemoveDemo() {
  const curd = useCurd();
  const [isOpen, setOpen] = useState(false);
  // Events of cheeses do not make it stale: dry runs as fast as an import writes would be refused.
  const { data } = useApi(['demo'], (api) => api.demo.delete({ dryRun: true }));
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
          title={removed.length === 1 ? 'Remove 1 demo cheese' : `Remove ${removed.length} demo cheeses`}
          action="Remove"
          text={`Demo cheeses that you have changed are yours, and stay.${keptText(kept)}${othersText}`}
          onConfirm={async () => {
            await curd.demo.delete();
            await invalidate('cheeses', 'stock', 'demo');
          }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
