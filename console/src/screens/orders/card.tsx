/** A card of the board. */
import { ActionIcon, Button, Checkbox, Group, Text } from '@mantine/core';
import { Cross2Icon } from '@radix-ui/react-icons';
import { useLayoutEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Order } from '../../../../client/src/index.ts';
import { showMoney } from '../../parts/format.ts';
import { Time } from '../../parts/time.tsx';
import { hasNoPrice, isWaiting, linesOf, Warnings } from './facts.tsx';
import { cancel, nextOf, type Transition } from './transitions.ts';

interface Props {
  readonly order: Order;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onFocus: () => void;
  readonly onSelect: () => void;
  readonly onTransition: (transition: Transition) => void;
}

export function Card({ order, isCurrent, isSelected, onFocus, onSelect, onTransition }: Props) {
  const link = useRef<HTMLAnchorElement>(null);
  const next = nextOf(order.status);
  const isUrgent = isWaiting(order) || (order.status === 'placed' && hasNoPrice(order));

  // Before the next key is handled: a late focus would select this card again after a key has moved on.
  useLayoutEffect(() => {
    const { activeElement } = document;
    const isFree =
      activeElement === null || activeElement === document.body || activeElement.closest('.board') !== null;
    if (isCurrent && isFree && document.querySelector('[role=dialog]') === null) {
      link.current?.focus({ preventScroll: true });
      link.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [isCurrent]);

  return (
    <li
      className="order-card"
      data-order={order.id}
      data-current={isCurrent || undefined}
      data-urgent={isUrgent || undefined}
      onFocus={onFocus}
    >
      <Group gap={8} wrap="nowrap">
        <Checkbox
          size="xs"
          aria-label={`Select order ${order.id}`}
          checked={isSelected}
          onChange={onSelect}
          tabIndex={-1}
        />
        <Link ref={link} href={`/orders/${order.id}`} className="order-id" aria-label={`Order ${order.id}`}>
          {order.id}
        </Link>
        <Text size="xs" c="dimmed" style={{ flex: 1 }} truncate>
          <Time at={order.createdAt} isRelative />
        </Text>
        <Text size="xs">{order.shippingAddress.country}</Text>
      </Group>
      <Text size="sm" lineClamp={2} my={2}>
        {linesOf(order)}
      </Text>
      <Group gap={6} justify="space-between" wrap="wrap">
        <Group gap={6}>
          <Text size="sm" fw={600} className="figure">
            {showMoney(order.total)}
          </Text>
          <Warnings order={order} />
        </Group>
        <Group gap={4} wrap="nowrap">
          {cancel.from.includes(order.status) ? (
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={`Cancel order ${order.id}`}
              title="Cancel"
              onClick={() => onTransition(cancel)}
            >
              <Cross2Icon aria-hidden="true" />
            </ActionIcon>
          ) : null}
          {next === undefined ? null : (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`${next.verb} order ${order.id}`}
              onClick={() => onTransition(next)}
            >
              {next.verb}
            </Button>
          )}
        </Group>
      </Group>
    </li>
  );
}
