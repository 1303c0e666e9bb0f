/** The accounts, which own API keys and OAuth clients. */
import { Anchor, Button, Group, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Result } from '../../../../client/src/index.ts';
import { useApi, useCurd, useList } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { ListTable } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';

export type Account = Result<'listAccounts'>['items'][number];

/** "9,871 of 10,000 left in this hour". */
export function quotaText({ quota: { hour } }: Account): string {
  return hour === null
    ? 'no hourly limit'
    : `${showNumber(hour.remaining)} of ${showNumber(hour.limit)} left in this hour`;
}

/** The names of the plans of this server. */
export function usePlans(): string[] {
  const { data } = useApi(['limits'], (curd) => curd.limits.list());
  return Object.keys(data?.plans ?? {});
}

const columns: readonly Column<Account>[] = [
  {
    title: 'Account',
    show: ({ id, name }) => (
      <Anchor component={Link} href={`/access/${id}`} size="sm" fw={600}>
        {name}
      </Anchor>
    ),
  },
  { title: 'Plan', show: ({ plan }) => plan },
  { title: 'Active keys', isNumber: true, show: ({ activeKeys }) => activeKeys },
  { title: 'Requests', show: quotaText },
  { title: 'Created', isWideOnly: true, show: ({ createdAt }) => <Time at={createdAt} isRelative /> },
];

export function Accounts() {
  const [, navigate] = useLocation();
  const [isCreating, setCreating] = useState(false);
  const list = useList(['access', 'accounts'], (curd) => curd.accounts.list());
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          An account has a plan, API keys, and OAuth clients.
        </Text>
        <Button size="xs" onClick={() => setCreating(true)}>
          New account
        </Button>
      </Group>
      <ListTable
        list={list}
        label="Accounts"
        what="accounts"
        columns={columns}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        onOpen={({ id }) => navigate(`/access/${id}`)}
        empty={<Empty title="No accounts yet">Create an account for each program that uses the API.</Empty>}
      />
      {isCreating ? <NewAccount onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function NewAccount({ onClose }: { readonly onClose: () => void }) {
  const curd = useCurd();
  const plans = usePlans();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [chosen, setPlan] = useState<string | null>(null);
  // A local shop gives accounts the largest plan unless another one is sent.
  const plan = chosen ?? plans.find((name) => name === 'free') ?? null;
  const [errors, setErrors] = useState<Record<string, string>>({});
  return (
    <FormDialog
      title="New account"
      action="Create"
      onClose={onClose}
      onErrors={setErrors}
      isDisabled={name.trim() === ''}
      onSubmit={async () => {
        const { id } = await curd.accounts.create({ name: name.trim(), ...(plan === null ? {} : { plan }) });
        await invalidate('access');
        navigate(`/access/${id}`);
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        description="Of the program or the partner"
        maxLength={100}
        value={name}
        error={errors.name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Select
        label="Plan"
        description="It limits the requests of the account"
        placeholder="The default of the server"
        data={plans}
        value={plan}
        error={errors.plan}
        onChange={setPlan}
      />
    </FormDialog>
  );
}
