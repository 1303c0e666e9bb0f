/** One API key: what it may do, what it spent, and its orders. */
import { Alert, Anchor, Badge, Button, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ApiKey } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { LabelledValues } from '../../parts/labelled-values.tsx';
import { Empty, PageTitle, Read } from '../../parts/page.tsx';
import { NewestOrders } from '../../parts/tables/newest-orders.tsx';
import { showMoney, showNumber } from '../../parts/text/format.ts';
import { shopNow, Time } from '../../parts/text/time.tsx';
import type { Account } from './accounts.tsx';
import { useKeys } from './key-list.tsx';
import { KindBadge, keyName, PageWarning, ShownKey } from './key-parts.tsx';
import { describeRights } from './key-rights.ts';
import { useKeyActions } from './use-key-actions.tsx';

const daysShown = 14;

interface Props {
  readonly account: Account;
  readonly id: number;
}

export function KeyPage({ account, id }: Props) {
  const keys = useKeys(account.name);
  const { buttonsOf, shown } = useKeyActions(account.name);
  const key = keys.data?.items.find((item) => item.id === id);
  return (
    <>
      <PageTitle
        title={key === undefined ? 'API key' : keyName(key)}
        back={{ href: `/access/${account.id}`, text: `All keys of ${account.name}` }}
      >
        {key === undefined ? null : (
          <>
            <KindBadge apiKey={key} />
            {buttonsOf(key)}
          </>
        )}
      </PageTitle>
      {shown}
      <Read of={keys} what="the key">
        {() =>
          key === undefined ? (
            <Empty title="There is no such active key">
              It was revoked or has expired, or is of another account.
            </Empty>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Stack>
                {key.webOrigin === undefined ? null : (
                  <Alert
                    color="red"
                    variant="light"
                    title="Everybody who opened the page can have copied this key"
                  >
                    <PageWarning apiKey={key} />
                  </Alert>
                )}
                <Details apiKey={key} />
                {key.kind === 'restricted' ? <Spending apiKey={key} /> : null}
              </Stack>
              {key.kind === 'publishable' ? null : <Orders actor={key.actor} />}
            </SimpleGrid>
          )
        }
      </Read>
    </>
  );
}

/** The limits of a key, each with its name. */
function limitsOf(key: ApiKey): (readonly [string, string])[] {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Origins', key.origins?.join(', ')],
    ['Categories', key.categories?.join(', ')],
    ['Cheeses', key.cheeseIds?.join(', ')],
    ['Networks', key.addresses?.join(', ')],
    ['An order', key.dollarsPerOrder === undefined ? undefined : `at most ${showMoney(key.dollarsPerOrder)}`],
    ['A day', key.dollarsPerDay === undefined ? undefined : `at most ${showMoney(key.dollarsPerDay)}`],
    ['Orders a day', key.ordersPerDay === undefined ? undefined : `at most ${showNumber(key.ordersPerDay)}`],
  ];
  return rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]));
}

function Details({ apiKey }: { readonly apiKey: ApiKey }) {
  const { scopes, createdAt, expiresAt, lastUsedAt } = apiKey;
  const rows = [
    ['Key', <ShownKey key="key" apiKey={apiKey} />],
    [
      'Scopes',
      <Group key="scopes" gap={4}>
        {scopes.length === 0
          ? 'none'
          : scopes.map((scope) => (
              <Badge key={scope} variant="default" tt="none">
                {scope}
              </Badge>
            ))}
      </Group>,
    ],
    ...limitsOf(apiKey),
    ['Created', <Time key="created" at={createdAt} />],
    ['Expires', expiresAt === null ? 'never' : <Time key="expires" at={expiresAt} />],
    ['Last used', lastUsedAt === null ? 'never' : <Time key="used" at={lastUsedAt} isRelative />],
  ] as const;
  return (
    <section className="card" aria-label="Rights">
      <Text fw={600} mb="xs">
        {describeRights(apiKey)}
      </Text>
      <LabelledValues rows={rows} labelWidth="7rem" />
    </section>
  );
}

/** Days are those of UTC, as the budget counts them. */
function Spending({ apiKey }: { readonly apiKey: ApiKey }) {
  const { id, dollarsPerDay, ordersPerDay } = apiKey;
  const [isLong, setLong] = useState(false);
  // Orders change it.
  const spending = useApi(['orders', 'spending', id], (curd) => curd.apiKeys.listSpending(id));
  const of = (limit: string | undefined) => (limit === undefined ? '' : ` of ${limit}`);
  return (
    <section className="card" aria-label="Spending">
      <Text fw={600}>Spending by day (UTC)</Text>
      <Read of={spending} what="the spending">
        {({ items: days }) => {
          const today = days.find(({ day }) => day === new Date(shopNow()).toISOString().slice(0, 10));
          return (
            <>
              <Text size="sm" mb="xs">
                Today {showMoney(today?.dollars ?? 0)}
                {of(dollarsPerDay === undefined ? undefined : showMoney(dollarsPerDay))}, orders{' '}
                {showNumber(today?.orders ?? 0)}
                {of(ordersPerDay === undefined ? undefined : showNumber(ordersPerDay))}
              </Text>
              {days.length === 0 ? null : (
                <Table verticalSpacing={4} aria-label="Spending by day">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Day</Table.Th>
                      <Table.Th ta="right">Spent</Table.Th>
                      <Table.Th ta="right">Orders</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {days.slice(0, isLong ? days.length : daysShown).map(({ day, dollars, orders }) => (
                      <Table.Tr key={day}>
                        <Table.Td className="figure">{day}</Table.Td>
                        <Table.Td ta="right" className="figure">
                          {showMoney(dollars)}
                        </Table.Td>
                        <Table.Td ta="right" className="figure">
                          {showNumber(orders)}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              )}
              {isLong || days.length <= daysShown ? null : (
                <Button size="compact-sm" variant="default" onClick={() => setLong(true)}>
                  All {days.length} days
                </Button>
              )}
            </>
          );
        }}
      </Read>
    </section>
  );
}

function Orders({ actor }: { readonly actor: string }) {
  return (
    <NewestOrders
      of={{ placedBy: actor }}
      whenEmpty="Orders that are placed with this key alone appear here."
      showLinks={() => (
        <Anchor component={Link} href={`/orders?view=list&placedBy=${actor}`} size="sm">
          All orders of this key
        </Anchor>
      )}
    />
  );
}
