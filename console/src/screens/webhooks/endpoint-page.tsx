/** One endpoint: its state, what can be done, and its deliveries. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useCallback, useState } from 'react';
import { useLocation } from 'wouter';
import type { Result, WebhookEndpoint } from '../../../../client/src/index.ts';
import { queryClient, useApi, useCurd } from '../../data/queries.ts';
import { useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { notifications } from '../../parts/notifications.tsx';
import { PageTitle, Read } from '../../parts/page.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { toMessage } from '../../session/session.ts';
import { Deliveries } from './deliveries.tsx';
import { EnableDialog, ReplayDialog, RotateDialog } from './dialogs.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { disabledReasons } from './health.ts';
import { StateBadge } from './state-badge.tsx';
import { Waiting } from './waiting.tsx';

const refreshMs = 3000;
const stale = () => queryClient.invalidateQueries({ queryKey: ['webhooks'] });

/** What a test ping brought. */
function TestResult({ result }: { readonly result: Result<'testWebhookEndpoint'> }) {
  const { status, durationMs, error, response } = result;
  return (
    <Alert
      color={error === null ? 'green' : 'red'}
      variant="light"
      role="status"
      title={error === null ? 'The test was received' : 'The test failed'}
    >
      <Text size="sm">
        {error === null ? null : `${error}. `}
        {status === null ? 'No response' : `Status ${status}`}, {showNumber(durationMs)} ms
      </Text>
      {response ? <Code block>{response}</Code> : null}
    </Alert>
  );
}

function Facts({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const facts = [
    ['State', <StateBadge key="state" endpoint={endpoint} />],
    ['Account', endpoint.account],
    ['Waiting', showNumber(endpoint.waiting)],
    ...(endpoint.waitingFor === null
      ? []
      : [['Next delivery', <Waiting key="next" waitingFor={endpoint.waitingFor} dueAt={endpoint.dueAt} />]]),
    ...(endpoint.failingSince === null
      ? []
      : [['Failing since', <Time key="failing" at={endpoint.failingSince} isRelative />]]),
    ['Events', endpoint.types === null ? 'all of the shop' : endpoint.types.join(', ')],
    [
      'Secrets',
      <Stack key="secrets" gap={0}>
        {endpoint.secrets.map(({ last4, endsAt }) => (
          <span key={last4}>
            ...{last4}
            {endsAt === null ? null : (
              <>
                , ends <Time at={endsAt} />
              </>
            )}
          </span>
        ))}
      </Stack>,
    ],
    ['Created', <Time key="created" at={endpoint.createdAt} />],
  ] as const;
  return (
    <dl className="facts card">
      {facts.map(([name, value]) => (
        <div key={name as string}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type Dialog = 'enable' | 'rotate' | 'replay' | 'delete' | 'disable';

export function EndpointPage({ id }: { readonly id: number }) {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  /** Read for the form: the cache would lose its version. */
  const [edited, setEdited] = useState<WebhookEndpoint | null>(null);
  const { run, isRunning } = useAction();
  const [isTesting, setTesting] = useState(false);
  const [tested, setTested] = useState<Result<'testWebhookEndpoint'> | null>(null);
  const hideSecret = useCallback(() => setSecret(null), []);
  const endpoint = useApi(
    ['webhooks', 'endpoint', id],
    (client, signal) => client.webhookEndpoints.get(id, { signal }),
    refreshMs,
  );
  const close = () => {
    setDialog(null);
    void stale();
  };

  async function test(): Promise<void> {
    setTesting(true);
    try {
      setTested(await curd.webhookEndpoints.test(id));
    } catch (error) {
      notifications.show({ color: 'red', message: toMessage(error) });
    }
    setTesting(false);
    await stale();
  }

  if (endpoint.data === undefined) {
    return (
      <Read of={endpoint} what="the webhook" heading={<PageTitle title="Webhook" />}>
        {() => null}
      </Read>
    );
  }
  const current = endpoint.data;
  const isEnabled = current.status === 'enabled';
  return (
    <>
      <PageTitle
        title={`Webhook ${new URL(current.url).host}`}
        back={{ href: '/webhooks', text: 'All webhooks' }}
      >
        <Button size="xs" variant="outline" color="red" onClick={() => setDialog('delete')}>
          Delete
        </Button>
        <Button size="xs" variant="default" loading={isTesting} onClick={() => void test()}>
          Test
        </Button>
        {isEnabled && current.waiting > 0 ? (
          <Button
            size="xs"
            disabled={isRunning}
            onClick={() =>
              void run(
                'What waits is sent now, in order.',
                () => curd.webhookEndpoints.deliver(id),
                'webhooks',
              )
            }
          >
            Deliver now
          </Button>
        ) : null}
        {isEnabled ? (
          <Button size="xs" variant="default" onClick={() => setDialog('disable')}>
            Disable
          </Button>
        ) : (
          <Button size="xs" onClick={() => setDialog('enable')}>
            Enable
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => setDialog('replay')}>
          Replay
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
          Rotate secret
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={isRunning}
          onClick={() => void run(null, async () => setEdited(await curd.webhookEndpoints.get(id)))}
        >
          Edit
        </Button>
      </PageTitle>
      <Stack gap="md">
        <Group gap="xs">
          <Text style={{ overflowWrap: 'anywhere' }}>{current.url}</Text>
          {current.description === null ? null : <Text c="dimmed">{current.description}</Text>}
        </Group>
        {current.disabledReason === null ? null : (
          <Alert color="red" variant="light" title="Nothing is sent to this webhook">
            {disabledReasons[current.disabledReason]}
          </Alert>
        )}
        {secret === null ? null : <SecretOnce title="The new secret" secret={secret} onHidden={hideSecret} />}
        {tested === null ? null : <TestResult result={tested} />}
        <Facts endpoint={current} />
        <Deliveries endpointId={id} />
      </Stack>
      {edited === null ? null : (
        <EndpointForm
          endpoint={edited}
          onClose={() => setEdited(null)}
          onSave={async (fields, ifMatch) => {
            await curd.webhookEndpoints.update(id, { ...fields }, { ifMatch });
            setEdited(null);
            await stale();
          }}
        />
      )}
      {dialog === 'enable' ? <EnableDialog endpoint={current} onClose={close} /> : null}
      {dialog === 'rotate' ? <RotateDialog endpoint={current} onClose={close} onSecret={setSecret} /> : null}
      {dialog === 'replay' ? (
        <ReplayDialog
          endpoint={current}
          onClose={close}
          onDone={(message) => notifications.show({ message })}
        />
      ) : null}
      {dialog === 'disable' ? (
        <Confirm
          title="Disable webhook"
          action="Disable"
          text="Nothing more is sent until it is enabled. It keeps its position in the log."
          onConfirm={() => curd.webhookEndpoints.disable(id)}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? (
        <Confirm
          title="Delete webhook"
          action="Delete"
          text="The endpoint, its secret and the record of its deliveries are deleted."
          typed={new URL(current.url).host}
          onConfirm={async () => {
            await curd.webhookEndpoints.delete(id);
            navigate('/webhooks');
          }}
          onClose={close}
        />
      ) : null}
    </>
  );
}
