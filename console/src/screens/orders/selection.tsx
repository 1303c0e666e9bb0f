/** What can be done with the selected orders, by buttons and keys. */
import { Button, Group, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import type { Order } from '../../../../client/src/index.ts';
import type { Rest } from '../../parts/select-all.ts';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { showNumber } from '../../parts/text/format.ts';
import { hrefOf, keepOrders } from './shipping/read-orders.ts';
import type { Requested } from './transition-dialogs.tsx';
import { applicable, transitions } from './transitions.ts';

interface Props {
  readonly orders: readonly Order[];
  readonly onRequest: (requested: Requested) => void;
  readonly onClear: () => void;
  /** Selects those of the list that were not read yet, too. */
  readonly rest?: Rest | null;
}

export function SelectionBar(props: Props) {
  return props.orders.length === 0 ? null : <Bar {...props} />;
}

function Bar({ orders, onRequest, onClear, rest = null }: Props) {
  const [, navigate] = useLocation();
  const approved = orders.filter(({ status }) => status === 'approved');
  const slips = hrefOf('slips', orders);
  const ship = hrefOf('ship', approved);
  const open = (href: string) => {
    keepOrders(orders);
    navigate(href);
  };
  useShortcuts({
    p: () => open(slips),
    ...(approved.length === 0 ? {} : { t: () => open(ship) }),
  });
  return (
    <Group className="card selection" gap="xs" py={6} mb="sm" role="toolbar" aria-label="Selected orders">
      <Text size="sm" fw={600} role="status">
        {showNumber(orders.length)} selected
      </Text>
      {rest === null ? null : (
        <Button size="compact-sm" variant="subtle" loading={rest.isReading} onClick={rest.onSelect}>
          {rest.label}
        </Button>
      )}
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
            {fitting.length === orders.length ? '' : ` ${showNumber(fitting.length)}`}
          </Button>
        );
      })}
      <Button
        size="compact-sm"
        variant="default"
        component={Link}
        href={slips}
        onClick={() => keepOrders(orders)}
      >
        Packing slips
      </Button>
      {approved.length === 0 ? null : (
        <Button
          size="compact-sm"
          variant="default"
          component={Link}
          href={ship}
          onClick={() => keepOrders(approved)}
        >
          Ship with tracking
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </Group>
  );
}
