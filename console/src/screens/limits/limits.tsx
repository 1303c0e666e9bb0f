/** Who uses how much, and every limit of the shop. */
import { Stack, Title } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { PageTitle, Read } from '../../parts/page.tsx';
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
        <Read of={accounts} what="limits">
          {({ items }) =>
            limits.data === undefined ? null : <Accounts accounts={items} limits={limits.data} />
          }
        </Read>
        <DeprecatedCallers />
        <section>
          <Title order={2} size="h4" mb="xs">
            Limits
          </Title>
          <Read of={limits}>{(data) => <Bounds limits={data} />}</Read>
        </section>
      </Stack>
    </>
  );
}
