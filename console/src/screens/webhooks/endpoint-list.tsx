/** All endpoints, with what an operator must know at a glance. */
import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { WebhookEndpoint } from '../../../../client/src/index.ts';
import { queryClient, useCurd, useList } from '../../data/queries.ts';
import { SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { locale, showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { type Health, readHealth } from './health.ts';
import { StateBadge } from './state-badge.tsx';

/** Deliveries have no event of their own. */
const refreshMs = 5000;

const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });

function showFailureRate({ failureRate }: Health): string {
  return failureRate === null ? '-' : percent.format(failureRate);
}

type Row = WebhookEndpoint & { readonly health: Health };

const columns: readonly Column<Row>[] = [
  {
    title: 'URL',
    show: ({ id, url, description }) => (
      <Stack gap={0} style={{ minWidth: 0 }}>
        <Anchor component={Link} href={`/webhooks/${id}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {url}
        </Anchor>
        {description === null ? null : (
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        )}
      </Stack>
    ),
  },
  { title: 'Account', show: ({ account }) => account, isWideOnly: true },
  { title: 'State', show: (endpoint) => <StateBadge endpoint={endpoint} /> },
  { title: 'Waiting', isNumber: true, show: ({ waiting }) => showNumber(waiting) },
  {
    title: 'Last success',
    show: ({ health }) =>
      health.lastSuccessAt === null ? 'none yet' : <Time at={health.lastSuccessAt} isRelative />,
  },
  { title: 'Failed attempts', isNumber: true, show: ({ health }) => showFailureRate(health) },
];

export function EndpointList() {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<{ readonly url: string; readonly secret: string } | null>(null);
  const list = useList(
    ['webhooks', 'list'],
    async (client, signal) => {
      const { items } = await client.webhookEndpoints.list({}, { signal });
      const withHealth = async (endpoint: WebhookEndpoint): Promise<Row> => ({
        ...endpoint,
        health: await readHealth(client, endpoint.id, signal),
      });
      return { items: await Promise.all(items.map(withHealth)) };
    },
    refreshMs,
  );
  return (
    <ListScreen
      title="Webhooks"
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      nameOf={({ url }) => url}
      onOpen={({ id }) => navigate(`/webhooks/${id}`)}
      actions={
        <Button size="xs" onClick={() => setCreating(true)}>
          New webhook
        </Button>
      }
      filters={
        created === null ? null : (
          <SecretOnce
            title={`The secret of ${created.url}: the receiver verifies signatures with it`}
            secret={created.secret}
            onHidden={() => setCreated(null)}
          />
        )
      }
      empty={
        <Empty title="No webhooks">
          A webhook sends events, such as a placed order, to a server of yours within a second. Create one
          with New webhook.
        </Empty>
      }
    >
      {list.rows.length === 0 ? null : (
        <Text size="xs" c="dimmed" mt="xs">
          Failed attempts: the share of all attempts for the last 100 deliveries.
        </Text>
      )}
      {isCreating ? (
        <EndpointForm
          onClose={() => setCreating(false)}
          onSave={async ({ url, types, description }) => {
            const endpoint = await curd.webhookEndpoints.create({ url, types, description });
            setCreated({ url, secret: endpoint.secret });
            setCreating(false);
            await queryClient.invalidateQueries({ queryKey: ['webhooks'] });
          }}
        />
      ) : null}
    </ListScreen>
  );
}
