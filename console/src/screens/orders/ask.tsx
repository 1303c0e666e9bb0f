/** Asks before orders are cancelled; runs a transition of many orders. */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import type { Order } from '../../../../client/src/index.ts';
import { Bulk } from '../../parts/bulk.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { useCurd } from '../../queries.ts';
import { cancel, type Transition, useTransition } from './transitions.ts';

export interface Requested {
  readonly transition: Transition;
  readonly orders: readonly Order[];
}

const nameOf = ({ id }: Order) => `Order ${id}`;

export function TransitionDialog({
  transition,
  orders,
  onClose,
}: Requested & { readonly onClose: () => void }) {
  const curd = useCurd();
  const queries = useQueryClient();
  const make = useTransition();
  const [isConfirmed, setConfirmed] = useState(transition !== cancel);
  const run = useCallback(({ id }: Order) => transition.send(curd, id), [transition, curd]);
  /** The dialog closes after its button too: then the next one has begun. */
  const isStarted = useRef(false);
  const [first] = orders;
  const isOne = orders.length === 1;

  if (!isConfirmed) {
    return (
      <Confirm
        title={isOne ? `Cancel order ${first?.id}` : `Cancel ${orders.length} orders`}
        action={isOne ? 'Cancel the order' : 'Cancel the orders'}
        dismiss="Back"
        text="Its cheeses return to the stock. A cancelled order cannot be opened again."
        onConfirm={async () => {
          if (isOne && first !== undefined) {
            void make(cancel, first);
          } else {
            isStarted.current = true;
            setConfirmed(true);
          }
        }}
        onClose={() => {
          if (!isStarted.current) {
            onClose();
          }
        }}
      />
    );
  }
  return (
    <Bulk
      title={`${transition.verb} ${orders.length} ${isOne ? 'order' : 'orders'}`}
      items={orders}
      nameOf={nameOf}
      run={run}
      onClose={() => {
        void queries.invalidateQueries({ queryKey: ['orders'] });
        onClose();
      }}
    />
  );
}
