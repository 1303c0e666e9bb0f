/** The last result of `curd doctor`. The server does not run the check itself: it reads everything. */
import { Alert, Badge, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { shopCommand } from '../../environment.ts';
import { Loading } from '../../parts/page.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { type DoctorRun, readLastDoctorRun } from './status.ts';

const oldMs = 7 * 86_400_000;
const command = `${shopCommand} doctor`;

function Findings({ run }: { readonly run: DoctorRun }) {
  const findings = run.checks.flatMap(({ check, findings: found }) =>
    found.map((finding) => ({ check, ...finding })),
  );
  return findings.map(({ check, fault, count, examples, remedy, isNote }) => (
    <Alert
      key={`${check} ${fault}`}
      variant="light"
      color={isNote ? 'gray' : 'red'}
      title={count > 1 ? `${fault} (${showNumber(count)})` : fault}
    >
      <Text size="sm">{remedy}</Text>
      {examples.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {check}: {examples.join(', ')}
        </Text>
      )}
    </Alert>
  ));
}

export function Integrity() {
  const last = useApi(['integrity'], readLastDoctorRun, 60_000);
  const run = last.data;
  const isOld = run !== undefined && (run === null || Date.now() - Date.parse(run.at) > oldMs);
  return (
    <section>
      <Group gap="sm" mb="xs">
        <Title order={2} size="h4">
          Integrity
        </Title>
        {run === undefined || run === null ? null : (
          <Badge variant="light" color={run.faults > 0 ? 'red' : isOld ? 'yellow' : 'green'}>
            {run.faults === 0
              ? 'no faults'
              : run.faults === 1
                ? '1 fault'
                : `${showNumber(run.faults)} faults`}
          </Badge>
        )}
      </Group>
      {last.isPending ? <Loading what="the last check" /> : null}
      {last.isError ? (
        <Text size="sm" c="dimmed">
          The result cannot be read now.
        </Text>
      ) : null}
      {run === undefined ? null : (
        <Stack gap="xs">
          {run === null ? null : (
            <Text size="sm">
              Checked <Time at={run.at} isRelative />, {showNumber(run.checks.length)} checks in{' '}
              {showNumber(run.seconds)} s.
            </Text>
          )}
          {isOld ? (
            <Alert color="yellow" variant="light" title={run === null ? 'Never checked' : 'Checked long ago'}>
              Run <Code>{command}</Code> once a week. It reads everything and changes nothing.
            </Alert>
          ) : null}
          {run === null ? null : <Findings run={run} />}
        </Stack>
      )}
    </section>
  );
}
