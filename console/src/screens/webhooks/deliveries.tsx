/** The deliveries to an endpoint, the newest first. */
import { Anchor, Badge, Group, SegmentedControl, Text, Title } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { useCurd } from '../../data/queries.ts';
import { Empty, Loading, Problem } from '../../parts/page.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { EarlierButton, useNewestFirst } from '../../parts/tables/newest-first.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { type Delivery, deliveryColors } from './health.ts';
import { Waiting } from './waiting.tsx';

const statuses = ['waiting', 'sending', 'delivered', 'failed'] as const;

export function Deliveries({ endpointId }: { readonly endpointId: number }) {
  const curd = useCurd();
  const [search, setSearch] = useSearchParams();
  const status = statuses.find((one) => one === search.get('status'));
  const open = search.get('delivery');
  const change = (name: string, value: string | null) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete(name);
      if (value !== null) {
        next.set(name, value);
      }
      return next;
    });
  const { list, rows } = useNewestFirst(['webhooks', 'deliveries', endpointId, status], (cursor, signal) =>
    curd.webhookDeliveries.list(endpointId, { status, cursor, limit: 50 }, { signal }),
  );
  const columns: Column<Delivery>[] = [
    { title: 'Time', show: ({ createdAt }) => <Time at={createdAt} isExact /> },
    {
      title: 'Event',
      show: (delivery) => (
        <Group gap={6}>
          <Anchor
            component="button"
            type="button"
            size="sm"
            onClick={() => change('delivery', String(delivery.id))}
          >
            {delivery.type}
          </Anchor>
          {delivery.kind === 'replay' ? (
            <Badge variant="outline" color="gray" size="sm">
              replay
            </Badge>
          ) : null}
        </Group>
      ),
    },
    { title: 'Subject', show: ({ subject }) => <Subject subject={subject} /> },
    {
      title: 'State',
      show: ({ status: state, waitingFor, dueAt }) => (
        <div>
          <Badge color={deliveryColors[state]} variant="light">
            {state}
          </Badge>
          {state === 'waiting' ? (
            <Text size="xs" c="dimmed">
              <Waiting waitingFor={waitingFor} dueAt={dueAt} />
            </Text>
          ) : null}
        </div>
      ),
    },
    { title: 'Attempts', isNumber: true, show: ({ attemptCount }) => showNumber(attemptCount) },
    {
      title: 'Last response',
      show: ({ lastStatus, lastError }) => lastError ?? (lastStatus === null ? '-' : `status ${lastStatus}`),
    },
  ];
  return (
    <section aria-label="Deliveries">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Deliveries
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="State of deliveries"
          data={['all', ...statuses]}
          value={status ?? 'all'}
          onChange={(value) => change('status', value === 'all' ? null : value)}
        />
      </Group>
      {list.isPending ? <Loading what="deliveries" /> : null}
      {list.isError ? <Problem error={list.error} retry={list.refetch} /> : null}
      {list.isSuccess && rows.length === 0 ? (
        <Empty title={status === undefined ? 'No deliveries yet' : `No ${status} deliveries`}>
          Each event of the chosen types appears here when it is sent.
        </Empty>
      ) : null}
      {rows.length === 0 ? null : (
        <DataTable
          label="Deliveries"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          nameOf={({ id }) => `delivery ${id}`}
          onOpen={({ id }) => change('delivery', String(id))}
        />
      )}
      <EarlierButton list={list} label="Earlier deliveries" />
      {open !== null && /^\d{1,15}$/.test(open) ? (
        <DeliveryDrawer id={Number(open)} onClose={() => change('delivery', null)} />
      ) : null}
    </section>
  );
}
