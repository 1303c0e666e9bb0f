/** OAuth clients: applications that act for customers, or for themselves. */
import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Result } from '../../../../client/src/index.ts';
import { useCurd, useList } from '../../data/queries.ts';
import { invalidate, readEffects } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { ListTable } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { Copyable } from '../../parts/text/copyable.tsx';
import { NewClient } from './new-client.tsx';

type Client = Result<'listOauthClients'>['items'][number];

const kindsOf = ({ builtIn, public: isPublic, native: isNative }: Client) =>
  [builtIn ? 'built in' : null, isPublic ? 'public' : null, isNative ? 'native app' : null].filter(
    (kind) => kind !== null,
  );

const columnsOf = (onDelete: (client: Client) => void): readonly Column<Client>[] => [
  {
    title: 'Client',
    show: (client) => (
      <Stack gap={0}>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {client.name}
          </Text>
          {kindsOf(client).map((kind) => (
            <Badge key={kind} size="sm" variant="default" tt="none">
              {kind}
            </Badge>
          ))}
        </Group>
        <Copyable value={client.clientId} />
      </Stack>
    ),
  },
  { title: 'Account', show: ({ account }) => account },
  {
    title: 'Scopes',
    show: ({ scopes }) => (
      <Text size="sm" maw="16rem">
        {scopes.join(', ')}
      </Text>
    ),
  },
  {
    title: 'Redirects to',
    isWideOnly: true,
    show: ({ redirectUris, builtIn }) =>
      builtIn ? (
        'this console: staff sign in with it'
      ) : redirectUris.length === 0 ? (
        'nowhere: it gets tokens for itself, without a person'
      ) : (
        <Stack gap={0}>
          {redirectUris.map((uri) => (
            <Text key={uri} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {uri}
            </Text>
          ))}
        </Stack>
      ),
  },
  {
    title: 'Actions',
    show: (client) =>
      client.builtIn ? null : (
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={`Delete ${client.name}`}
          onClick={() => onDelete(client)}
        >
          Delete
        </Button>
      ),
  },
];

export function OauthClients() {
  const curd = useCurd();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<Result<'createOauthClient'> | null>(null);
  const [deleted, setDeleted] = useState<Client | null>(null);
  const list = useList(['access', 'clients'], (api) => api.oauthClients.list());
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          An application gets tokens by OAuth 2.0: for customers who sign in and permit it, or for itself.
        </Text>
        <Button size="sm" onClick={() => setCreating(true)}>
          New client
        </Button>
      </Group>
      {created === null ? null : created.clientSecret === null ? (
        <Text size="sm" mb="sm" role="status">
          {created.name} was registered. Its client id is <Code>{created.clientId}</Code>.
        </Text>
      ) : (
        <SecretOnce
          title={`The secret of ${created.name} (${created.clientId})`}
          secret={created.clientSecret}
          onHidden={() => setCreated(null)}
        />
      )}
      <ListTable
        list={list}
        label="OAuth clients"
        what="OAuth clients"
        columns={columnsOf(setDeleted)}
        keyOf={({ clientId }) => clientId}
        nameOf={({ name }) => name}
        empty={<Empty title="No OAuth clients yet">Register an application of a partner here.</Empty>}
      />
      {isCreating ? (
        <NewClient
          onClose={() => setCreating(false)}
          onCreated={(client) => {
            setCreating(false);
            setCreated(client);
          }}
        />
      ) : null}
      {deleted === null ? null : (
        <Confirm
          title={`Delete ${deleted.name}`}
          action="Delete"
          typed={deleted.name}
          text="Its tokens and approvals end at once."
          readEffects={() => readEffects((options) => curd.oauthClients.delete(deleted.clientId, options))}
          onConfirm={async () => {
            await curd.oauthClients.delete(deleted.clientId);
            await invalidate('access', 'approvals');
          }}
          onClose={() => setDeleted(null)}
        />
      )}
    </>
  );
}
