/** One mail: its state, what it says, and another attempt. */
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi, useCurd } from '../../data/queries.ts';
import { useAction } from '../../parts/action.ts';
import { SideDialog } from '../../parts/dialogs/side-dialog.tsx';
import { Read } from '../../parts/page.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { HtmlFrame } from './html-frame.tsx';
import { type Mail, NextAttempt, StateBadge } from './state.tsx';

interface Props {
  readonly id: number;
  /** undefined if the list does not have it: with other filters, or on a later page. */
  readonly listed: Mail | undefined;
  readonly onClose: () => void;
}

export function MailDrawer({ id, listed, onClose }: Props) {
  const curd = useCurd();
  const { run, isRunning } = useAction();
  const [retried, setRetried] = useState<Mail | null>(null);
  const mail = listed ?? retried;
  return (
    <SideDialog onClose={onClose} size="lg" title={mail === null ? `Mail ${id}` : `Mail ${id}: ${mail.mail}`}>
      <Stack gap="md">
        {mail === null ? (
          <Text size="sm" c="dimmed">
            The list does not show this mail, because of its filters or its length.
          </Text>
        ) : (
          <Facts mail={mail} />
        )}
        {mail?.state === 'sent' ? null : (
          <Group gap="sm">
            <Button
              size="xs"
              loading={isRunning}
              onClick={() =>
                void run(
                  'It is sent now, with six attempts.',
                  async () => setRetried(await curd.mails.retry(id)),
                  'mail',
                )
              }
            >
              {mail?.state === 'waiting' ? 'Send now' : 'Send again'}
            </Button>
          </Group>
        )}
        <Preview id={id} />
      </Stack>
    </SideDialog>
  );
}

function Facts({ mail }: { readonly mail: Mail }) {
  const { state, customerId, orderId, attempts, createdAt, sentAt, reason } = mail;
  return (
    <>
      <Group gap="sm">
        <StateBadge mail={mail} />
        <NextAttempt mail={mail} />
        <Subject subject={`customer:${customerId}`} />
        {orderId === null ? null : <Subject subject={`order:${orderId}`} />}
      </Group>
      <Text size="sm" component="div">
        <Time at={createdAt} isExact />, {attempts === 1 ? '1 attempt' : `${showNumber(attempts)} attempts`}
        {sentAt === null ? null : (
          <>
            , {reason === null ? 'sent' : 'written'} <Time at={sentAt} isExact />
          </>
        )}
      </Text>
      {reason === null ? null : (
        <Alert color={state === 'failed' ? 'red' : state === 'sent' ? 'gray' : 'yellow'} variant="light">
          {reason}
        </Alert>
      )}
    </>
  );
}

function Preview({ id }: { readonly id: number }) {
  const [format, setFormat] = useState('HTML');
  const preview = useApi(['mail', 'preview', id], (curd, signal) => curd.mails.preview(id, { signal }));
  return (
    <Read of={preview} what="the preview">
      {(data) => (
        <section aria-label="Preview">
          <Group justify="space-between" mb="xs" wrap="wrap">
            <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
              {data.subject}
            </Text>
            <SegmentedControl
              size="xs"
              aria-label="Format"
              data={['HTML', 'Text']}
              value={format}
              onChange={setFormat}
            />
          </Group>
          {format === 'HTML' ? (
            <HtmlFrame html={data.html} title="HTML of the mail" />
          ) : (
            <pre className="card mail-text">{data.text}</pre>
          )}
          <Text size="xs" c="dimmed" mt="xs">
            As it would be sent today. Neither addresses nor texts of mails are stored.
          </Text>
        </section>
      )}
    </Read>
  );
}
