/** The background work that the instance repeats, and whether it succeeds. */
import { Badge, Title } from '@mantine/core';
import { DataTable } from '../../parts/tables/data-table.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import type { Status } from './status.ts';

const columns: Column<Status['loops'][number]>[] = [
  { title: 'Loop', show: ({ name }) => name },
  {
    title: 'State',
    show: ({ isFailing, lastRunAt }) => (
      <Badge variant="light" color={isFailing ? 'red' : lastRunAt === null ? 'gray' : 'green'}>
        {isFailing ? 'failing' : lastRunAt === null ? 'did not run yet' : 'running'}
      </Badge>
    ),
  },
  {
    title: 'Last run',
    show: ({ lastRunAt }) => (lastRunAt === null ? '' : <Time at={lastRunAt} isRelative />),
  },
  {
    title: 'Seconds',
    isNumber: true,
    show: ({ lastRunSeconds }) => (lastRunSeconds === null ? '' : showNumber(lastRunSeconds)),
  },
  { title: 'Every', isNumber: true, show: ({ everySeconds }) => `${showNumber(everySeconds)} s` },
  { title: 'Failures', isNumber: true, show: ({ failures }) => showNumber(failures) },
];

export function Loops({ loops }: Pick<Status, 'loops'>) {
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        Background loops
      </Title>
      <DataTable
        label="Background loops"
        columns={columns}
        rows={loops}
        keyOf={({ name }) => name}
        nameOf={({ name }) => name}
      />
    </section>
  );
}
