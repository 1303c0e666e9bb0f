/** The figures of the server, and its instances. */
import { Badge, Table, Title } from '@mantine/core';
import { showNumber } from '../../parts/format.ts';
import { Time } from '../../parts/time.tsx';
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

export function Instances({ status }: { readonly status: Status }) {
  const versions = new Set(status.instances.map(({ version }) => version));
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        Instances
      </Title>
      <Table.ScrollContainer minWidth={420}>
        <Table aria-label="Instances">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Instance</Table.Th>
              <Table.Th>Health</Table.Th>
              <Table.Th>Version</Table.Th>
              <Table.Th>Started</Table.Th>
              <Table.Th>Last seen</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {status.instances.map(({ id, version, startedAt, seenAt }) => {
              const isSilent = Date.now() - Date.parse(seenAt) > silentMs && id !== status.instance;
              return (
                <Table.Tr key={id}>
                  <Table.Td>
                    {id}{' '}
                    {id === status.instance ? (
                      <Badge variant="outline" color="gray" size="sm">
                        this response
                      </Badge>
                    ) : null}
                  </Table.Td>
                  <Table.Td>
                    <Badge variant="light" color={isSilent ? 'yellow' : 'green'}>
                      {isSilent ? 'silent' : 'running'}
                    </Badge>
                  </Table.Td>
                  <Table.Td>
                    {version}
                    {versions.size > 1 && version !== status.version ? ' (another version)' : null}
                  </Table.Td>
                  <Table.Td>
                    <Time at={startedAt} isRelative />
                  </Table.Td>
                  <Table.Td>
                    <Time at={seenAt} isRelative />
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}
