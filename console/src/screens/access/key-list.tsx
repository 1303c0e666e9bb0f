/** The active API keys of an account. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { ApiKey } from '../../../../client/src/index.ts';
import { useList } from '../../data/queries.ts';
import { ListTable } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { Time } from '../../parts/text/time.tsx';
import type { Account } from './accounts.tsx';
import { KindBadge, keyName, PageWarning, pathOfKey, ShownKey } from './key-parts.tsx';
import { describeRights } from './key-rights.ts';
import { useKeyActions } from './use-key-actions.tsx';

export const useKeys = (account: string) =>
  useList(['access', 'keys', account], (api) => api.apiKeys.list({ account }));

const columnsOf = (accountId: number, buttonsOf: (key: ApiKey) => ReactNode): readonly Column<ApiKey>[] => [
  {
    title: 'Name',
    show: (key) => (
      <Stack gap={2} align="start">
        <Anchor
          component={Link}
          href={pathOfKey(accountId, key)}
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
];

export function KeyList({ account }: { readonly account: Account }) {
  const [, navigate] = useLocation();
  const list = useKeys(account.name);
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
      <ListTable
        list={list}
        label="API keys"
        what="API keys"
        columns={columnsOf(account.id, buttonsOf)}
        keyOf={({ id }) => id}
        nameOf={keyName}
        onOpen={(key) => navigate(pathOfKey(account.id, key))}
        empty={
          <Empty title="No active API keys">
            {isConsole
              ? 'This account is part of the console, and cannot have keys.'
              : 'Create one for each program, each web page and each AI assistant.'}
          </Empty>
        }
      />
    </section>
  );
}
