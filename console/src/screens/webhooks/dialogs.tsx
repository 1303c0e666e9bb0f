/** Dialogs that ask before an endpoint is enabled, replayed, or gets a new secret. */
import { Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { showNumber } from '../../parts/text/format.ts';

interface Props {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

export function EnableDialog({ endpoint, onClose }: Props) {
  const curd = useCurd();
  const isExpired = endpoint.disabledReason === 'events_expired';
  const [from, setFrom] = useState(isExpired ? 'now' : 'position');
  return (
    <FormDialog
      title="Enable webhook"
      action="Enable"
      onClose={onClose}
      onSubmit={async () => {
        await curd.webhookEndpoints.enable(endpoint.id, { skip: from === 'now' });
        onClose();
      }}
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
    </FormDialog>
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
    <FormDialog
      title="Rotate secret"
      action="Rotate"
      onClose={onClose}
      onSubmit={async () => {
        const { secret } = await curd.webhookEndpoints.rotateSecret(endpoint.id, { overlap });
        onSecret(secret);
        onClose();
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
    </FormDialog>
  );
}

interface ReplayProps extends Props {
  readonly onDone: (text: string) => void;
}

export function ReplayDialog({ endpoint, onDone, onClose }: ReplayProps) {
  const curd = useCurd();
  const [since, setSince] = useState('');
  return (
    <FormDialog
      title="Replay events"
      action="Replay"
      isDisabled={since === ''}
      onClose={onClose}
      onSubmit={async () => {
        const { deliveries } = await curd.webhookEndpoints.replay(endpoint.id, {
          since: new Date(since).toISOString(),
        });
        onDone(`${showNumber(deliveries)} ${deliveries === 1 ? 'delivery was' : 'deliveries were'} queued.`);
        onClose();
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
    </FormDialog>
  );
}
