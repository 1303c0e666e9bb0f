/** Dialogs that ask before an endpoint is enabled, replayed, or gets a new secret. */
import { Alert, Button, Group, Modal, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { WebhookEndpoint } from '../../../../client/src/index.ts';
import { showNumber } from '../../parts/format.ts';
import { useCurd } from '../../queries.ts';
import { messageOf } from '../../session.ts';

interface DialogProps {
  readonly title: string;
  readonly action: string;
  readonly isReady?: boolean;
  readonly run: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A small form that closes when its request has succeeded, and shows why it failed. */
function Dialog({ title, action, isReady = true, run, onClose, children }: DialogProps) {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  return (
    <Modal opened onClose={onClose} title={title}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          setRunning(true);
          setFailure(null);
          try {
            await run();
            onClose();
          } catch (error) {
            setFailure(messageOf(error));
            setRunning(false);
          }
        }}
      >
        <Stack gap="sm">
          {children}
          {failure === null ? null : <Alert color="red">{failure}</Alert>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isRunning} disabled={!isReady}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface Props {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

export function EnableDialog({ endpoint, onClose }: Props) {
  const curd = useCurd();
  const isExpired = endpoint.disabledReason === 'events_expired';
  const [from, setFrom] = useState(isExpired ? 'now' : 'position');
  return (
    <Dialog
      title="Enable webhook"
      action="Enable"
      onClose={onClose}
      run={() => curd.webhookEndpoints.enable(endpoint.id, { skip: from === 'now' })}
    >
      <Radio.Group label="Continue" value={from} onChange={setFrom}>
        <Stack gap={6} mt={4}>
          <Radio
            value="position"
            label="where it was disabled: it gets everything that it missed"
            disabled={isExpired}
          />
          <Radio value="now" label="from now on: what it missed is not sent" />
        </Stack>
      </Radio.Group>
    </Dialog>
  );
}

const overlaps = [
  { value: '0s', label: 'at once' },
  { value: '1h', label: 'after one hour' },
  { value: '24h', label: 'after one day' },
  { value: '7d', label: 'after seven days' },
];

interface RotateProps extends Props {
  readonly onSecret: (secret: string) => void;
}

export function RotateDialog({ endpoint, onSecret, onClose }: RotateProps) {
  const curd = useCurd();
  const [overlap, setOverlap] = useState('24h');
  return (
    <Dialog
      title="Rotate secret"
      action="Rotate"
      onClose={onClose}
      run={async () => {
        const { secret } = await curd.webhookEndpoints.rotateSecret(endpoint.id, { overlap });
        onSecret(secret);
      }}
    >
      <Text size="sm">
        The endpoint gets a new secret. Until the old one ends, each request has a signature of both.
      </Text>
      <Select
        label="The old secret ends"
        data={overlaps}
        value={overlap}
        allowDeselect={false}
        onChange={(value) => setOverlap(value ?? '24h')}
      />
    </Dialog>
  );
}

interface ReplayProps extends Props {
  readonly onDone: (text: string) => void;
}

export function ReplayDialog({ endpoint, onDone, onClose }: ReplayProps) {
  const curd = useCurd();
  const [since, setSince] = useState('');
  return (
    <Dialog
      title="Replay events"
      action="Replay"
      isReady={since !== ''}
      onClose={onClose}
      run={async () => {
        const { deliveries } = await curd.webhookEndpoints.replay(endpoint.id, {
          since: new Date(since).toISOString(),
        });
        onDone(`${showNumber(deliveries)} ${deliveries === 1 ? 'delivery was' : 'deliveries were'} queued.`);
      }}
    >
      <Text size="sm">
        The events of this endpoint since a time are sent again, at most 10,000. Their ids are the same, so a
        receiver that remembers ids drops those that it has.
      </Text>
      <TextInput
        data-autofocus
        label="Since"
        type="datetime-local"
        step={1}
        required
        value={since}
        onChange={({ currentTarget }) => setSince(currentTarget.value)}
      />
    </Dialog>
  );
}
