/** Makes the shop like new. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { queryClient, useCurd } from '../../data/queries.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { Section } from './section.tsx';

export function Reset() {
  const curd = useCurd();
  const [isAsked, setAsked] = useState(false);
  return (
    <Section
      title="Reset"
      about="Delete cheeses, orders and customers, and fill in the demo catalogue. Accounts, keys, applications, webhooks and snapshots stay, and the clock goes back to that of the machine."
    >
      <Button color="red" variant="light" onClick={() => setAsked(true)}>
        Reset the shop
      </Button>
      {isAsked ? (
        <Confirm
          title="Reset the shop"
          action="Reset"
          typed="reset"
          text="All cheeses, orders and customers are deleted. Only a snapshot can bring them back. Everyone is signed out, so you sign in again afterwards."
          onConfirm={async () => {
            await curd.sandbox.reset({ confirm: true });
            // The steps that are done are remembered.
            queryClient.removeQueries({ queryKey: ['checklist'] });
            await queryClient.invalidateQueries();
          }}
          onClose={() => setAsked(false)}
        />
      ) : null}
    </Section>
  );
}
