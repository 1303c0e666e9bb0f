/** What each account may request, and how much of it is used. */
import { Progress, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Result } from '../../../../client/src/index.ts';
import { queryClient, useCurd } from '../../data/queries.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';

export type Account = Result<'listAccounts'>['items'][number];

const noLimit = 'no limit';

interface MeterProps {
  readonly label: string;
  readonly limit: number | null;
  readonly remaining: number | null;
}

/** "12 of 100" with a bar. */
function Meter({ label, limit, remaining }: MeterProps) {
  if (limit === null || remaining === null) {
    return noLimit;
  }
  const used = Math.max(0, limit - remaining);
  const share = (used / Math.max(1, limit)) * 100;
  return (
    <Stack gap={2} miw={110}>
      <Text size="sm" className="figure">
        {showNumber(used)} of {showNumber(limit)}
      </Text>
      <Progress
        size="sm"
        value={share}
        color={share >= 90 ? 'red' : 'rind'}
        aria-label={`${label}: ${showNumber(used)} of ${showNumber(limit)}`}
      />
    </Stack>
  );
}

interface Props {
  readonly accounts: readonly Account[];
  readonly limits: Result<'listLimits'>;
}

interface Change {
  readonly account: Account;
  readonly plan: string;
}

export function Accounts({ accounts, limits: { plans, sessionPlan } }: Props) {
  const curd = useCurd();
  const [change, setChange] = useState<Change | null>(null);
  const columns: Column<Account>[] = [
    { title: 'Account', show: ({ name }) => name },
    {
      title: 'Plan',
      show: (account) =>
        // The account of this page: its plan is fixed.
        account.name === 'console' ? (
          account.plan
        ) : (
          <Select
            size="xs"
            w={130}
            aria-label={`Plan of ${account.name}`}
            data={[...new Set([...Object.keys(plans), account.plan])]}
            value={account.plan}
            allowDeselect={false}
            onChange={(plan) => {
              if (plan !== null && plan !== account.plan) {
                setChange({ account, plan });
              }
            }}
          />
        ),
    },
    { title: 'Active keys', isNumber: true, show: ({ activeKeys }) => showNumber(activeKeys) },
    {
      title: 'This hour',
      show: ({ name, quota: { hour } }) => (
        <Meter label={`Requests of ${name} in this hour`} {...usage(hour)} />
      ),
    },
    {
      title: 'This second',
      show: ({ name, quota: { burst } }) => (
        <Meter label={`Requests of ${name} in this second`} {...usage(burst)} />
      ),
    },
  ];
  return (
    <section>
      <DataTable
        label="Accounts"
        columns={columns}
        rows={accounts}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
      />
      <Text size="sm" c="dimmed" mt="xs">
        {`Each customer session is limited by the plan ${sessionPlan}${describePlan(plans[sessionPlan])}, each by itself.`}
      </Text>
      {change === null ? null : (
        <Confirm
          title={`Change the plan of ${change.account.name}`}
          action="Change plan"
          text={`From ${change.account.plan} to ${change.plan}. The new limits count from the next request.`}
          onConfirm={async () => {
            await curd.accounts.changePlan(change.account.id, { plan: change.plan });
            await queryClient.invalidateQueries({ queryKey: ['access'] });
          }}
          onClose={() => setChange(null)}
        />
      )}
    </section>
  );
}

function describePlan(plan: { readonly perHour: number | null; readonly burst: number } | undefined): string {
  return plan === undefined
    ? ''
    : ` (${plan.perHour === null ? 'no limit an hour' : `${showNumber(plan.perHour)} requests an hour`}, ${showNumber(plan.burst)} a second)`;
}

/** A plan without a limit has none of the figures. */
function usage(figures: { readonly limit: number; readonly remaining: number } | null) {
  return { limit: figures?.limit ?? null, remaining: figures?.remaining ?? null };
}
