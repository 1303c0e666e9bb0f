/** One event as JSON, and where it was sent. */
import { Badge, Group, Stack, Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { useApi } from '../../data/queries.ts';
import { SideDialog } from '../../parts/dialogs/side-dialog.tsx';
import { Read } from '../../parts/page.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Json } from '../../parts/text/json.tsx';
import { RequestLink } from '../../parts/text/request-link.tsx';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { deliveryColors } from '../webhooks/health.ts';

/** Deliveries change without an event. */
const refreshMs = 5000;

function Deliveries({ eventId }: { readonly eventId: string }) {
  const deliveries = useApi(
    ['webhooks', 'of event', eventId],
    async (curd, signal) => {
      const { items: endpoints } = await curd.webhookEndpoints.list({}, { signal });
      const found = await Promise.all(
        endpoints.map(async ({ id, url }) => {
          const { items } = await curd.webhookDeliveries.list(id, { eventId, limit: 20 }, { signal });
          return items.map((delivery) => ({ ...delivery, url }));
        }),
      );
      return found.flat();
    },
    refreshMs,
  );
  return (
    <Read of={deliveries} what="webhook deliveries">
      {(all) =>
        all.length === 0 ? (
          <Text size="sm" c="dimmed">
            It was sent to no webhook.
          </Text>
        ) : (
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Webhook</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th ta="right">Attempts</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {all.map(({ id, endpointId, url, status, attemptCount }) => (
                <Table.Tr key={id}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    <Link href={`/webhooks/${endpointId}?delivery=${id}`}>{url}</Link>
                  </Table.Td>
                  <Table.Td>
                    <Badge color={deliveryColors[status]} variant="light">
                      {status}
                    </Badge>
                  </Table.Td>
                  <Table.Td ta="right" className="figure">
                    {showNumber(attemptCount)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )
      }
    </Read>
  );
}

export function EventDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const event = useApi(['event', id], (curd, signal) => curd.events.get(id, { signal }));
  return (
    <SideDialog onClose={onClose} size="lg" title={`Event ${event.data?.type ?? id}`}>
      <Read of={event} what="the event">
        {(data) => (
          <Stack gap="md">
            <Group gap="md">
              <Text size="sm">
                <Time at={data.timestamp} isExact />
              </Text>
              <Subject subject={data.subject} />
              <Text size="sm">
                by <Actor actor={data.actor} />
              </Text>
              {data.requestId === null ? null : <RequestLink id={data.requestId} />}
            </Group>
            <Json value={data} label="The event as JSON" />
            <Title order={2} size="h5">
              Webhook deliveries
            </Title>
            <Deliveries eventId={id} />
          </Stack>
        )}
      </Read>
    </SideDialog>
  );
}
