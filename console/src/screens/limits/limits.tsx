/** Who uses how much, and every limit of the shop. */
import { Stack, Title } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { Loading, PageTitle, Problem } from '../../parts/page.tsx';
import { Accounts } from './accounts.tsx';
import { Bounds } from './bounds.tsx';
import { DeprecatedCallers } from './deprecated.tsx';

/** Requests are counted without an event. */
const refreshMs = 5000;

export default function Limits() {
  const accounts = useApi(['access', 'usage'], (curd, signal) => curd.accounts.list({ signal }), refreshMs);
  const limits = useApi(['limits'], (curd, signal) => curd.limits.list({ signal }));
  return (
    <>
      <PageTitle title="Limits and usage" />
      <Stack gap="xl">
        {accounts.isPending || limits.isPending ? <Loading what="limits" /> : null}
        {accounts.isError ? <Problem error={accounts.error} retry={accounts.refetch} /> : null}
        {accounts.data === undefined || limits.data === undefined ? null : (
          <Accounts accounts={accounts.data.items} limits={limits.data} />
        )}
        <DeprecatedCallers />
        <section>
          <Title order={2} size="h4" mb="xs">
            Limits
          </Title>
          {limits.isError ? <Problem error={limits.error} retry={limits.refetch} /> : null}
          {limits.data === undefined ? null : <Bounds limits={limits.data} />}
        </section>
      </Stack>
    </>
  );
}
