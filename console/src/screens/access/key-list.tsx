/** The active API keys of an account. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import type { ApiKey } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { Empty, Loading, Problem } from '../../parts/page.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { Time } from '../../parts/text/time.tsx';
import type { Account } from './accounts.tsx';
import { KindBadge, keyName, PageWarning, pathOfKey, ShownKey } from './key-parts.tsx';
import { describeRights } from './key-rights.ts';
import { useKeyActions } from './use-key-actions.tsx';

export const useKeys = (account: string) =>
  useApi(['access', 'keys', account], (api) => api.apiKeys.list({ account }));

export function KeyList({ account }: { readonly account: Account }) {
  const [, navigate] = useLocation();
  const { data, error, refetch } = useKeys(account.name);
  const { create, buttonsOf, shown } = useKeyActions(account.name);
  const isConsole = account.name === 'console';

  return (
    <section aria-label="API keys">
      <Group justify="space-between" mb="xs">
        <Text fw={600}>API keys</Text>
        {isConsole ? null : (
          <Button size="xs" onClick={create}>
            New key
          </Button>
        )}
      </Group>
      {shown}
      {error !== null ? (
        <Problem error={error} retry={refetch} />
      ) : data === undefined ? (
        <Loading what="API keys" />
      ) : data.items.length === 0 ? (
        <Empty title="No active API keys">
          {isConsole
            ? 'This account is part of the console, and cannot have keys.'
            : 'Create one for each program, each web page and each AI assistant.'}
        </Empty>
      ) : (
        <DataTable<ApiKey>
          label="API keys"
          rows={data.items}
          keyOf={({ id }) => id}
          nameOf={keyName}
          onOpen={(key) => navigate(pathOfKey(account.id, key))}
          columns={[
            {
              title: 'Name',
              show: (key) => (
                <Stack gap={2} align="start">
                  <Anchor
                    component={Link}
                    href={pathOfKey(account.id, key)}
                    size="sm"
                    fw={600}
                    {...(key.name === null ? { className: 'one-line' } : {})}
                  >
                    {keyName(key)}
                  </Anchor>
                  <KindBadge apiKey={key} />
                </Stack>
              ),
            },
            { title: 'Key', show: (key) => <ShownKey apiKey={key} /> },
            {
              title: 'Rights',
              show: (key) => (
                <Stack gap={2} maw="24rem">
                  <Text size="sm">{describeRights(key)}</Text>
                  <PageWarning apiKey={key} />
                </Stack>
              ),
            },
            {
              title: 'Last used',
              show: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time at={lastUsedAt} isRelative />),
            },
            {
              title: 'Actions',
              show: (key) => (
                <Group gap={0} className="row-actions">
                  {buttonsOf(key)}
                </Group>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}
