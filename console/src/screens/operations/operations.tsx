/** Whether the shop is well, and how it is set up. */
import { Stack, Text } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { Empty, Loading, PageTitle } from '../../parts/page.tsx';
import { Time } from '../../parts/text/time.tsx';
import { toMessage } from '../../session/session.ts';
import { Faults } from './faults.tsx';
import { Figures, Instances } from './health.tsx';
import { Integrity } from './integrity.tsx';
import { Loops } from './loops.tsx';
import { Settings } from './settings.tsx';
import { readStatus, statusRefreshMs } from './status.ts';

export default function Operations() {
  const { data: status, error, isPending } = useApi(['status'], readStatus, statusRefreshMs);
  return (
    <>
      <PageTitle title="Operations" />
      {isPending ? <Loading what="the state of the server" /> : null}
      {error === null ? null : (
        <Empty title="The state of the server cannot be read now">
          {toMessage(error)} It is read again every few seconds.
        </Empty>
      )}
      <Stack gap="xl">
        {status === undefined ? null : (
          <>
            <div>
              <Text size="sm" mb="xs">
                Curd {status.version} ({status.environment}) on{' '}
                {status.engine === 'postgres' ? 'PostgreSQL' : 'SQLite'}, started{' '}
                <Time at={status.startedAt} isRelative />. Last backup:{' '}
                {status.lastBackupAt === null ? (
                  status.engine === 'postgres' ? (
                    'made with the tools of PostgreSQL'
                  ) : (
                    'none'
                  )
                ) : (
                  <Time at={status.lastBackupAt} isRelative />
                )}
                .
              </Text>
              <Figures status={status} />
            </div>
            <Instances status={status} />
          </>
        )}
        <Integrity />
        {status === undefined ? null : (
          <>
            <Loops loops={status.loops} />
            <Faults faults={status.faults} />
            <Settings settings={status.settings} />
          </>
        )}
      </Stack>
    </>
  );
}
