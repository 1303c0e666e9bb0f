/** The figures of the server, and its instances. */
import { Badge, Group, Title } from '@mantine/core';
import { DataTable } from '../../parts/tables/data-table.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import type { Status } from './status.ts';

/** An instance writes a sign of life once a minute. */
const silentMs = 150_000;

interface Figure {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
  /** Something to look at. */
  readonly isLate?: boolean;
}

function figuresOf({ database, log, jobs, deliveries, streams, memoryBytes }: Status): Figure[] {
  return [
    {
      label: 'Database',
      value: `${showNumber(database.latencyMs)} ms`,
      note: `${showNumber(database.waiting)} waiting`,
      isLate: database.latencyMs > 100 || database.waiting > 50,
    },
    {
      label: 'Event log',
      value: showNumber(log.last),
      note: `from ${showNumber(log.first)} on, ${showNumber(log.waiting)} to number`,
      isLate: log.waiting > 1000,
    },
    {
      label: 'Jobs due',
      value: showNumber(jobs.due),
      note: jobs.due === 0 ? 'none waits' : `the oldest for ${showNumber(jobs.oldestSeconds)} s`,
      isLate: jobs.oldestSeconds > 60,
    },
    {
      label: 'Webhook deliveries',
      value: showNumber(deliveries.waiting),
      note: `waiting, ${showNumber(deliveries.failing)} failing`,
      isLate: deliveries.failing > 0,
    },
    { label: 'Event streams', value: showNumber(streams), note: 'of this instance' },
    {
      label: 'Memory',
      value: `${showNumber(Math.round(memoryBytes / 1e6))} MB`,
      note: 'of this instance',
    },
  ];
}

export function Figures({ status }: { readonly status: Status }) {
  return (
    <dl className="facts card">
      {figuresOf(status).map(({ label, value, note, isLate }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd
            style={{ fontSize: '1.25rem', fontWeight: 600, color: isLate ? 'var(--curd-late)' : undefined }}
          >
            {value}
          </dd>
          {note === undefined ? null : <dd className="note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

type Instance = Status['instances'][number];

export function Instances({ status }: { readonly status: Status }) {
  const isSilent = ({ id, seenAt }: Instance) =>
    id !== status.instance && Date.now() - Date.parse(seenAt) > silentMs;
  const columns: Column<Instance>[] = [
    {
      title: 'Instance',
      show: ({ id }) => (
        <Group gap={6}>
          {id}
          {id === status.instance ? (
            <Badge variant="outline" color="gray" size="sm">
              this response
            </Badge>
          ) : null}
        </Group>
      ),
    },
    {
      title: 'Health',
      show: (instance) => (
        <Badge variant="light" color={isSilent(instance) ? 'yellow' : 'green'}>
          {isSilent(instance) ? 'silent' : 'running'}
        </Badge>
      ),
    },
    {
      title: 'Version',
      show: ({ version }) => (version === status.version ? version : `${version} (another version)`),
    },
    { title: 'Started', show: ({ startedAt }) => <Time at={startedAt} isRelative /> },
    { title: 'Last seen', show: ({ seenAt }) => <Time at={seenAt} isRelative /> },
  ];
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        Instances
      </Title>
      <DataTable
        label="Instances"
        columns={columns}
        rows={status.instances}
        keyOf={({ id }) => id}
        nameOf={({ id }) => id}
      />
    </section>
  );
}
