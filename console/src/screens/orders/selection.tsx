/** What can be done with the selected orders. */
import { Button, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Order } from '../../../../client/src/index.ts';
import { slipsMax } from './packing-slips.tsx';
import type { Requested } from './transition-dialogs.tsx';
import { applicable, transitions } from './transitions.ts';

interface Props {
  readonly orders: readonly Order[];
  readonly onRequest: (requested: Requested) => void;
  readonly onClear: () => void;
}

export function SelectionBar({ orders, onRequest, onClear }: Props) {
  if (orders.length === 0) {
    return null;
  }
  const ids = orders.slice(0, slipsMax).map(({ id }) => id);
  return (
    <Group className="card" gap="xs" py={6} mb="sm" role="toolbar" aria-label="Selected orders">
      <Text size="sm" fw={600} role="status">
        {orders.length} selected
      </Text>
      {transitions.map((transition) => {
        const fitting = applicable(transition, orders);
        return fitting.length === 0 ? null : (
          <Button
            key={transition.key}
            size="compact-sm"
            variant="default"
            onClick={() => onRequest({ transition, orders: fitting })}
          >
            {transition.verb}
            {fitting.length === orders.length ? '' : ` ${fitting.length}`}
          </Button>
        );
      })}
      <Button
        size="compact-sm"
        variant="default"
        component={Link}
        href={`/orders/slips?ids=${ids.join(',')}`}
      >
        Packing slips
      </Button>
      {orders.some(({ status }) => status === 'approved') ? (
        <Button
          size="compact-sm"
          variant="default"
          component={Link}
          href={`/orders/ship?ids=${ids.join(',')}`}
        >
          Ship with tracking
        </Button>
      ) : null}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </Group>
  );
}
