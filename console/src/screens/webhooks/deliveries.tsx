/** The deliveries to an endpoint, the newest first. */
import { Anchor, Badge, Group, Text, Title } from '@mantine/core';
import { useCurd } from '../../data/queries.ts';
import { TabsFilter } from '../../parts/fields/tabs-filter.tsx';
import { ListTable } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import { useNewestFirst } from '../../parts/tables/newest-first.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { asId, asOneOf, useUrlValue } from '../../parts/url-filters.ts';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { type Delivery, deliveryColors } from './health.ts';
import { Waiting } from './waiting.tsx';

const statuses = ['waiting', 'sending', 'delivered', 'failed'] as const;

const columnsOf = (open: (id: number) => void): Column<Delivery>[] => [
  { title: 'Time', show: ({ createdAt }) => <Time at={createdAt} isExact /> },
  {
    title: 'Event',
    show: ({ id, type, kind }) => (
      <Group gap={6}>
        <Anchor component="button" type="button" size="sm" onClick={() => open(id)}>
          {type}
        </Anchor>
        {kind === 'replay' ? (
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

export function Deliveries({ endpointId }: { readonly endpointId: number }) {
  const curd = useCurd();
  const [status, setStatus] = useUrlValue('status', asOneOf(statuses));
  const [open, show] = useUrlValue('delivery', asId);
  const list = useNewestFirst(['webhooks', 'deliveries', endpointId, status], (cursor, signal) =>
    curd.webhookDeliveries.list(endpointId, { status, cursor, limit: 50 }, { signal }),
  );
  return (
    <section aria-label="Deliveries">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Deliveries
        </Title>
        <TabsFilter label="State of deliveries" values={statuses} value={status} onChange={setStatus} />
      </Group>
      <ListTable<Delivery>
        list={list}
        label="Deliveries"
        what="deliveries"
        columns={columnsOf(show)}
        keyOf={({ id }) => id}
        nameOf={({ id }) => `delivery ${id}`}
        onOpen={({ id }) => show(id)}
        empty={
          <Empty title={status === undefined ? 'No deliveries yet' : `No ${status} deliveries`}>
            Each event of the chosen types appears here when it is sent.
          </Empty>
        }
      />
      {open === undefined ? null : <DeliveryDrawer id={open} onClose={() => show(null)} />}
    </section>
  );
}
