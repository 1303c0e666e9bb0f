/** What an import did, or would do. */
import { Alert, Badge, Button, Group, List, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import type { Result } from '../../../../client/src/index.ts';
import { download } from '../../parts/download.ts';
import { toCsv } from '../../parts/tables/csv.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { importFields, nameOfField, showField } from '../cheeses/fields.ts';

export type ImportReport = Result<'importCheeses'>;

const shownRefusals = 10;
const colors = { created: 'green', updated: 'yellow', unchanged: 'gray', refused: 'red' } as const;
const outcomes = { created: 'new', updated: 'changed', unchanged: 'unchanged', refused: 'refused' } as const;

export function Counts({ report }: { readonly report: ImportReport }) {
  const counts = [
    ['New', report.created],
    ['Changed', report.updated],
    ['Unchanged', report.unchanged],
    ['Refused', report.refusedCount],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} role="status" aria-label="Counts">
      {counts.map(([label, count]) => (
        <div key={label} className="card">
          <Text size="sm" c="dimmed">
            {label}
          </Text>
          <Text fw={600} size="xl" className="figure">
            {showNumber(count)}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  );
}

/** Names of fields that are no words, such as `pricePerKg`. */
const codeNames = importFields.filter((field) => field !== field.toLowerCase());
const codeName = new RegExp(`\\b(?:${codeNames.join('|')})\\b`, 'g');

/** The sentence of the server, with the names that this page gives to fields. */
const inWords = (reason: string): string => reason.replace(codeName, nameOfField);

export function Refusals({ report }: { readonly report: ImportReport }) {
  const { refused, refusedCount, remarks } = report;
  if (refused.length + remarks.length === 0) {
    return null;
  }
  return (
    <Stack gap="xs">
      {refused.length === 0 ? null : (
        <Alert
          color="red"
          variant="light"
          title={refusedCount === 1 ? '1 row is refused' : `${showNumber(refusedCount)} rows are refused`}
        >
          <Lines
            lines={refused.map(({ line, name, reason }) => ({ line, name, text: inWords(reason) }))}
            all={refusedCount}
          />
          {refused.some(({ reason }) => reason.includes(' differs in ')) ? (
            <Text size="sm">To change cheeses that exist, choose "Add and update" above.</Text>
          ) : null}
        </Alert>
      )}
      {remarks.length === 0 ? null : (
        <Alert color="yellow" variant="light" title="Some values are left out">
          <Lines
            lines={remarks.map(({ line, remark }) => ({ line, name: null, text: inWords(remark) }))}
            all={remarks.length}
          />
        </Alert>
      )}
    </Stack>
  );
}

interface LinesProps {
  readonly lines: readonly { readonly line: number; readonly name: string | null; readonly text: string }[];
  readonly all: number;
}

function Lines({ lines, all }: LinesProps) {
  return (
    <List size="sm">
      {lines.slice(0, shownRefusals).map(({ line, name, text }) => (
        <List.Item key={`${line} ${text}`} style={{ overflowWrap: 'anywhere' }}>
          Line {line}
          {name === null ? null : (
            <>
              , <strong>{name}</strong>
            </>
          )}
          : {text}
        </List.Item>
      ))}
      {all > shownRefusals ? <List.Item>and {showNumber(all - shownRefusals)} more</List.Item> : null}
    </List>
  );
}

/** The lines that were not imported as they are, for a spreadsheet. */
export function ReportFile({ report, file }: { readonly report: ImportReport; readonly file: string }) {
  const rows = [
    ...report.refused.map(({ line, name, reason }) => [line, 'refused', name, reason]),
    ...report.remarks.map(({ line, remark }) => [line, 'left out', null, remark]),
    ...report.changed.map(({ line, name, changes }) => [line, 'changed', name, sentenceOf(changes)]),
  ];
  const totals = [
    ['', 'new', null, report.created],
    ['', 'changed', null, report.updated],
    ['', 'unchanged', null, report.unchanged],
    ['', 'refused', null, report.refusedCount],
  ];
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<DownloadIcon aria-hidden="true" />}
      onClick={() =>
        download(
          `${file.replace(/\.\w+$/, '')}-report.csv`,
          toCsv(['line', 'result', 'name', 'count, reason or change'], [...totals, ...rows]),
        )
      }
    >
      Report as a file
    </Button>
  );
}

const shownChanges = 20;

type Changed = ImportReport['changed'][number];

/** "price €37.00 to €38.50, tags cow to cow, raw" */
function sentenceOf(changes: Changed['changes']): string {
  return Object.entries(changes)
    .map(
      ([field, { from, to }]) => `${nameOfField(field)} ${showField(from, field)} to ${showField(to, field)}`,
    )
    .join(', ');
}

interface Change {
  readonly line: number;
  readonly name: string;
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

const changesOf = (changed: readonly Changed[]): Change[] =>
  changed.flatMap(({ line, name, changes }) =>
    Object.entries(changes).map(([field, { from, to }]) => ({ line, name, field, from, to })),
  );

const changeColumns: readonly Column<Change>[] = [
  { title: 'Name', show: ({ name }) => <strong className="row-name">{name}</strong> },
  { title: 'Line', show: ({ line }) => line, isNumber: true },
  { title: 'Field', show: ({ field }) => nameOfField(field) },
  { title: 'Now', show: ({ from, field }) => showField(from, field) },
  { title: 'After the import', show: ({ to, field }) => showField(to, field) },
];

/** The old and the new values of cheeses that exist. */
export function Changes({ report: { changed, updated } }: { readonly report: ImportReport }) {
  if (changed.length === 0) {
    return null;
  }
  const shown = changed.slice(0, shownChanges);
  return (
    <section aria-label="Changed cheeses">
      <Title order={2} size="h5" mb="xs">
        Changed cheeses
      </Title>
      <DataTable<Change>
        label="Changed cheeses"
        columns={changeColumns}
        rows={changesOf(shown)}
        keyOf={({ line, field }) => `${line} ${field}`}
        nameOf={({ name }) => name}
      />
      {updated > shown.length ? (
        <Text size="sm" c="dimmed">
          and {showNumber(updated - shown.length)} more
        </Text>
      ) : null}
    </section>
  );
}

const shownFields = ['category', 'tags', 'status', 'origin', 'pricePerKg', 'ageMonths'] as const;

export function Sample({ report }: { readonly report: ImportReport }) {
  const refusalAt = (line: number) => report.refused.find((refusal) => refusal.line === line);
  return (
    <section aria-label="First rows">
      <Title order={2} size="h5" mb="xs">
        First rows
      </Title>
      <Table.ScrollContainer minWidth={720} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right">Line</Table.Th>
              <Table.Th>Result</Table.Th>
              <Table.Th>Name</Table.Th>
              {shownFields.map((field) => (
                <Table.Th key={field} tt="capitalize">
                  {nameOfField(field)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {report.sample.map(({ line, outcome, cheese }) => (
              <Table.Tr key={line}>
                <Table.Td ta="right" className="figure">
                  {line}
                </Table.Td>
                <Table.Td>
                  <Badge size="sm" tt="none" variant="light" color={colors[outcome]}>
                    {outcomes[outcome]}
                  </Badge>
                </Table.Td>
                {cheese === undefined ? (
                  <>
                    <Table.Td fw={600}>{refusalAt(line)?.name ?? ''}</Table.Td>
                    <Table.Td colSpan={shownFields.length}>{inWords(refusalAt(line)?.reason ?? '')}</Table.Td>
                  </>
                ) : (
                  <>
                    <Table.Td fw={600}>{cheese.name}</Table.Td>
                    {shownFields.map((field) => (
                      <Table.Td key={field}>{showField(cheese[field], field)}</Table.Td>
                    ))}
                  </>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}

/** The end of an import. */
export function Done({ report, file }: { readonly report: ImportReport; readonly file: string }) {
  return (
    <Alert color="green" variant="light" title={`${file} is imported`} role="status">
      <Group gap="sm">
        <Text size="sm">
          {showNumber(report.created)} new, {showNumber(report.updated)} changed,{' '}
          {showNumber(report.unchanged)} unchanged, {showNumber(report.refusedCount)} refused.
        </Text>
        <ReportFile report={report} file={file} />
      </Group>
    </Alert>
  );
}
