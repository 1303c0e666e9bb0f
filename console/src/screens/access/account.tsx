/** One account: its plan and its API keys. */
import { Anchor, Badge, Button, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ApiKey } from '../../../../client/src/index.ts';
import { useApi, useCurd } from '../../data/queries.ts';
import { invalidate, readEffects, useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { showUndo } from '../../parts/notifications.tsx';
import { Empty, Loading, PageTitle, Problem } from '../../parts/page.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { Time } from '../../parts/text/time.tsx';
import { type Account, quotaText, usePlans } from './accounts.tsx';
import { NewKey, RenameKey, RotateKey } from './key-dialogs.tsx';

const keyName = ({ name, last4 }: ApiKey) => name ?? `key …${last4}`;

export function AccountDetail({ id }: { readonly id: number }) {
  const { data, error, refetch } = useApi(['access', 'accounts'], (curd) => curd.accounts.list());
  const account = data?.items.find((one) => one.id === id);
  return (
    <>
      <Anchor component={Link} href="/access" size="sm">
        All accounts
      </Anchor>
      <PageTitle title={account?.name ?? 'Account'} />
      {error !== null ? (
        <Problem error={error} retry={refetch} />
      ) : data === undefined ? (
        <Loading what="the account" />
      ) : account === undefined ? (
        <Empty title="There is no such account">It may be an account of another shop.</Empty>
      ) : (
        <Stack>
          <Plan account={account} />
          <Keys account={account} />
        </Stack>
      )}
    </>
  );
}

function Plan({ account }: { readonly account: Account }) {
  const curd = useCurd();
  const plans = usePlans();
  const { run, isRunning } = useAction();
  const changePlan = (plan: string) =>
    run(null, () => curd.accounts.changePlan(account.id, { plan }), 'access');
  return (
    <Group className="card" align="end">
      <Select
        label="Plan"
        data={[...new Set([...plans, account.plan])]}
        value={account.plan}
        readOnly={isRunning}
        allowDeselect={false}
        onChange={(plan) => {
          if (plan !== null && plan !== account.plan) {
            void changePlan(plan).then((isDone) => {
              if (isDone) {
                showUndo(`${account.name} has the plan ${plan}.`, () => changePlan(account.plan));
              }
            });
          }
        }}
      />
      <Text size="sm" c="dimmed" pb={8}>
        {quotaText(account)}
      </Text>
    </Group>
  );
}

function Keys({ account }: { readonly account: Account }) {
  const curd = useCurd();
  const [dialog, setDialog] = useState<
    'create' | { readonly kind: 'rename' | 'rotate' | 'revoke'; readonly key: ApiKey } | null
  >(null);
  const [secret, setSecret] = useState<{ readonly title: string; readonly key: string } | null>(null);
  const { data, error, refetch } = useApi(['access', 'keys', account.name], (api) =>
    api.apiKeys.list({ account: account.name }),
  );
  const close = () => setDialog(null);
  const isConsole = account.name === 'console';

  return (
    <section aria-label="API keys">
      <Group justify="space-between" mb="xs">
        <Text fw={600}>API keys</Text>
        {isConsole ? null : (
          <Button size="sm" onClick={() => setDialog('create')}>
            New key
          </Button>
        )}
      </Group>
      {secret === null ? null : (
        <SecretOnce title={secret.title} secret={secret.key} onHidden={() => setSecret(null)} />
      )}
      {error !== null ? (
        <Problem error={error} retry={refetch} />
      ) : data === undefined ? (
        <Loading what="API keys" />
      ) : data.items.length === 0 ? (
        <Empty title="No active API keys">
          {isConsole
            ? 'This account is part of the console, and cannot have keys.'
            : 'Create one for each program. Its secret is shown once.'}
        </Empty>
      ) : (
        <DataTable<ApiKey>
          label="API keys"
          rows={data.items}
          keyOf={({ id }) => id}
          nameOf={keyName}
          columns={[
            { title: 'Name', show: keyName },
            {
              title: 'Key',
              show: ({ id, type, last4 }) => (
                <Text span size="sm" className="figure">
                  key:{id} ({type}, …{last4})
                </Text>
              ),
            },
            {
              title: 'Scopes',
              show: ({ scopes }) => (
                <Group gap={4}>
                  {scopes.length === 0
                    ? 'read only'
                    : scopes.map((scope) => (
                        <Badge key={scope} variant="default" tt="none">
                          {scope}
                        </Badge>
                      ))}
                </Group>
              ),
            },
            {
              title: 'Last used',
              show: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} isRelative />),
            },
            {
              title: 'Expires',
              show: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time at={expiresAt} />),
            },
            {
              title: 'Actions',
              show: (key) => (
                <Group gap={4} justify="flex-end" wrap="nowrap">
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    component={Link}
                    href={`/requests?credential=key:${key.id}`}
                    aria-label={`Requests of ${keyName(key)}`}
                  >
                    Requests
                  </Button>
                  {(['rename', 'rotate', 'revoke'] as const).map((kind) => (
                    <Button
                      key={kind}
                      size="compact-sm"
                      variant="subtle"
                      color={kind === 'revoke' ? 'red' : 'rind'}
                      aria-label={`${kind} ${keyName(key)}`}
                      tt="capitalize"
                      onClick={() => setDialog({ kind, key })}
                    >
                      {kind}
                    </Button>
                  ))}
                </Group>
              ),
            },
          ]}
        />
      )}
      {dialog === 'create' ? (
        <NewKey
          account={account.name}
          onClose={close}
          onCreated={(key) => {
            close();
            setSecret({ title: `The new key ${key.name ?? ''} of ${account.name}`, key: key.key });
          }}
        />
      ) : dialog === null ? null : dialog.kind === 'rename' ? (
        <RenameKey apiKey={dialog.key} onClose={close} />
      ) : dialog.kind === 'rotate' ? (
        <RotateKey
          apiKey={dialog.key}
          onClose={close}
          onRotated={(key) => {
            close();
            setSecret({ title: `The key that replaces ${keyName(dialog.key)}`, key: key.key });
          }}
        />
      ) : (
        <Confirm
          title={`Revoke ${keyName(dialog.key)}`}
          action="Revoke"
          text="Programs that use it are refused from their next request on."
          readEffects={() => readEffects((options) => curd.apiKeys.revoke(dialog.key.id, options))}
          onConfirm={async () => {
            await curd.apiKeys.revoke(dialog.key.id);
            await invalidate('access');
          }}
          onClose={close}
        />
      )}
    </section>
  );
}
