/** One account: its plan and its API keys. */
import { Group, Select, Stack, Text } from '@mantine/core';
import { useApi, useCurd } from '../../data/queries.ts';
import { useAction } from '../../parts/action.ts';
import { showUndo } from '../../parts/notifications.tsx';
import { Empty, PageTitle, Read } from '../../parts/page.tsx';
import { asId, useUrlValue } from '../../parts/url-filters.ts';
import { type Account, quotaText, usePlans } from './accounts.tsx';
import { KeyList } from './key-list.tsx';
import { KeyPage } from './key-page.tsx';

export function AccountDetail({ id }: { readonly id: number }) {
  const [keyId] = useUrlValue('key', asId);
  const accounts = useApi(['access', 'accounts'], (curd) => curd.accounts.list());
  const account = accounts.data?.items.find((item) => item.id === id);
  if (account !== undefined && keyId !== undefined) {
    return <KeyPage key={keyId} account={account} id={keyId} />;
  }
  return (
    <>
      <PageTitle title={account?.name ?? 'Account'} back={{ href: '/access', text: 'All accounts' }} />
      <Read of={accounts} what="the account">
        {() =>
          account === undefined ? (
            <Empty title="There is no such account">It may be an account of another shop.</Empty>
          ) : (
            <Stack>
              <Plan account={account} />
              <KeyList account={account} />
            </Stack>
          )
        }
      </Read>
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
