/** Asks before orders are cancelled, or many are shipped; runs a transition of many orders. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Order } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { useStatus } from '../../data/status.ts';
import { Bulk } from '../../parts/dialogs/bulk.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useNames } from '../../parts/text/names.ts';
import { hrefOf, keepOrders } from './shipping/read-orders.ts';
import { cancel, settle, type Transition, useTransition } from './transitions.ts';

export interface Requested {
  readonly transition: Transition;
  readonly orders: readonly Order[];
}

const nameOf = ({ id }: Order) => `Order ${id}`;

/** That customers get a mail; empty if none will be sent. */
function useMailText({ to }: Transition, orders: readonly Order[]): string {
  const { data: status } = useStatus();
  const [name] = useNames(orders.slice(0, 1).map(({ id }) => `order-customer:${id}`));
  const mails = status?.settings.find(({ variable }) => variable === 'CURD_MAILS')?.value ?? '';
  if (status === undefined || status.mail.transport === 'off' || !mails.split(',').includes(`order-${to}`)) {
    return '';
  }
  return orders.length > 1 ? ' Their customers get mails.' : name === null ? '' : ` ${name} gets a mail.`;
}

/** What is asked before a transition; null if it is made without asking. */
function questionOf(transition: Transition, orders: readonly Order[], mailText: string) {
  const [first] = orders;
  const isOne = orders.length === 1;
  const title = `${transition.verb} ${isOne ? `order ${first?.id}` : `${orders.length} orders`}`;
  const action = `${transition.verb} the ${isOne ? 'order' : 'orders'}`;
  if (transition === cancel) {
    const text = `Cheeses with tracked stock return to it.${mailText} A cancelled order cannot be opened again.`;
    return { title, action, text, isHarmless: false };
  }
  const text = `Webhooks are told at once.${mailText} A shipped order cannot be cancelled any more.`;
  return transition.isFinal ? { title, action, text, isHarmless: true } : null;
}

export function TransitionDialog({
  transition,
  orders,
  onClose,
}: Requested & {
  /** @param isDone false when nothing was sent */
  readonly onClose: (isDone: boolean) => void;
}) {
  const curd = useCurd();
  const queries = useQueryClient();
  const make = useTransition();
  const question = questionOf(transition, orders, useMailText(transition, orders));
  const [isConfirmed, setConfirmed] = useState(question === null);
  const run = useCallback(
    async ({ id }: Order) => {
      await settle(transition, id);
      return transition.send(curd, id);
    },
    [transition, curd],
  );
  /** The dialog closes after its button too: then the next one has begun. */
  const isStarted = useRef(false);
  const [first] = orders;

  if (question !== null && !isConfirmed) {
    return (
      <Confirm
        {...question}
        dismiss="Back"
        onConfirm={async () => {
          if (transition === cancel && orders.length === 1 && first !== undefined) {
            isStarted.current = true;
            void make(cancel, first);
            onClose(true);
          } else {
            isStarted.current = true;
            setConfirmed(true);
          }
        }}
        onClose={() => {
          if (!isStarted.current) {
            onClose(false);
          }
        }}
      />
    );
  }
  return (
    <Bulk
      title={`${transition.verb} ${orders.length} ${orders.length === 1 ? 'order' : 'orders'}`}
      items={orders}
      nameOf={nameOf}
      run={run}
      next={
        transition.to === 'approved' ? (
          <Button
            variant="default"
            component={Link}
            href={hrefOf('slips', orders)}
            onClick={() => keepOrders(orders)}
          >
            Packing slips
          </Button>
        ) : null
      }
      onClose={() => {
        void queries.invalidateQueries({ queryKey: ['orders'] });
        onClose(true);
      }}
    />
  );
}
