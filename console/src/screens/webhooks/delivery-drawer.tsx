/** One delivery: every attempt, what was sent and what was returned. */
import { Alert, Badge, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { WebhookDelivery } from '../../../../client/src/index.ts';
import { queryClient, useApi, useCurd } from '../../data/queries.ts';
import { SideDialog } from '../../parts/dialogs/side-dialog.tsx';
import { Read } from '../../parts/page.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Json } from '../../parts/text/json.tsx';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { toMessage } from '../../session/session.ts';
import { deliveryColors } from './health.ts';
import { Waiting } from './waiting.tsx';

const refreshMs = 3000;

function Attempts({ attempts }: Pick<WebhookDelivery, 'attempts'>) {
  if (attempts.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        It was not sent yet.
      </Text>
    );
  }
  return attempts.map(({ number, at, durationMs, status, error, response }) => (
    <div key={number} className="card">
      <Group gap="sm">
        <Text size="sm" fw={600}>
          Attempt {number}
        </Text>
        <Text size="sm">
          <Time at={at} isExact />
        </Text>
        <Text size="sm">{durationMs === null ? 'is running' : `${showNumber(durationMs)} ms`}</Text>
        {status === null ? null : (
          <Badge color={error === null ? 'green' : 'red'} variant="light">
            {status}
          </Badge>
        )}
      </Group>
      {error === null ? null : (
        <Text size="sm" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
      {response ? <Code block>{response}</Code> : null}
    </div>
  ));
}

/** The event as it was sent. The log keeps it for a shorter time than an old delivery may be looked at. */
function Sent({ eventId }: { readonly eventId: string }) {
  const event = useApi(['event', eventId], (curd, signal) => curd.events.get(eventId, { signal }));
  return (
    <Read of={event} what="the event">
      {(sent) => <Json value={sent} label="The event that was sent" />}
    </Read>
  );
}

export function DeliveryDrawer({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const curd = useCurd();
  const [isSending, setSending] = useState(false);
  const [notice, setNotice] = useState<{ readonly text: string; readonly isFailure: boolean } | null>(null);
  const delivery = useApi(
    ['webhooks', 'delivery', id],
    (client, signal) => client.webhookDeliveries.get(id, { signal }),
    refreshMs,
  );

  async function resend(isWaiting: boolean): Promise<void> {
    setSending(true);
    try {
      const { deliveryId } = await curd.webhookDeliveries.retry(id);
      const text = isWaiting
        ? 'It is due now, after the earlier deliveries of its subject.'
        : `It is sent again, as delivery ${deliveryId}.`;
      setNotice({ text, isFailure: false });
      await queryClient.invalidateQueries({ queryKey: ['webhooks'] });
    } catch (error) {
      setNotice({ text: toMessage(error), isFailure: true });
    }
    setSending(false);
  }

  return (
    <SideDialog onClose={onClose} size="lg" title={`Delivery ${id}`}>
      <Read of={delivery} what="the delivery">
        {(data) => (
          <Stack gap="md">
            <Group justify="space-between">
              <Group gap="sm">
                <Badge color={deliveryColors[data.status]} variant="light">
                  {data.status}
                </Badge>
                <Text size="sm">{data.type}</Text>
                <Subject subject={data.subject} />
              </Group>
              <Button
                size="xs"
                loading={isSending}
                disabled={data.status === 'sending'}
                onClick={() => void resend(data.status === 'waiting')}
              >
                {data.status === 'waiting' ? 'Send now' : 'Resend'}
              </Button>
            </Group>
            {data.waitingFor === null ? null : (
              <Text size="sm" c="dimmed">
                <Waiting waitingFor={data.waitingFor} dueAt={data.dueAt} />
              </Text>
            )}
            {notice === null ? null : (
              <Alert color={notice.isFailure ? 'red' : 'green'} variant="light" role="status">
                {notice.text}
              </Alert>
            )}
            <Title order={2} size="h5">
              Attempts
            </Title>
            <Attempts attempts={data.attempts} />
            <Title order={2} size="h5">
              What was sent
            </Title>
            <Sent eventId={data.eventId} />
            <Text size="xs" c="dimmed">
              The body of the request also had previousId, and its headers had the id, the time and the
              signatures.
            </Text>
          </Stack>
        )}
      </Read>
    </SideDialog>
  );
}
