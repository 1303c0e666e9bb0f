/** A table of parts of the sales, each with its change since the range before. */
import { Button, Group, Table, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CsvButton } from '../../parts/tables/csv-button.tsx';
import { showMoney } from '../../parts/text/format.ts';
import { showChange } from './range.ts';
import type { Part } from './read-sales.ts';

const shownAtFirst = 10;

interface Props {
  readonly title: string;
  /** What the rows are: "Country". */
  readonly column: string;
  /** What is counted: "Orders". */
  readonly countColumn: string;
  readonly rows: readonly Part[];
  readonly showName: (row: Part) => ReactNode;
  readonly showCount: (count: number) => string;
  /** Name of the CSV file, and its columns that identify a row. */
  readonly csv: {
    readonly name: string;
    readonly columns: Readonly<Record<string, (row: Part) => string | null>>;
  };
}

export function PartsTable({ title, column, countColumn, rows, showName, showCount, csv }: Props) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? rows : rows.slice(0, shownAtFirst);
  const count = countColumn.toLowerCase();
  async function* read() {
    yield* rows;
  }
  return (
    <section className="card" aria-label={title}>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Text fw={600}>{title}</Text>
        <CsvButton
          name={csv.name}
          read={read}
          columns={{
            ...csv.columns,
            [count]: (row) => row.count,
            value: ({ value }) => value,
            [`${count}Before`]: ({ before }) => before?.count,
            valueBefore: ({ before }) => before?.value,
          }}
          remedy="Choose a shorter range."
        />
      </Group>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          No orders in these days.
        </Text>
      ) : (
        <Table verticalSpacing={4} horizontalSpacing={6} withRowBorders={false} aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{column}</Table.Th>
              <Table.Th ta="right">{countColumn}</Table.Th>
              <Table.Th ta="right">Value</Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                Before
              </Table.Th>
              <Table.Th ta="right">Change</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((row) => (
              <Table.Tr key={row.key}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{showName(row)}</Table.Td>
                <Table.Td ta="right" className="figure" style={{ whiteSpace: 'nowrap' }}>
                  {showCount(row.count)}
                </Table.Td>
                <Table.Td ta="right" className="figure">
                  {showMoney(row.value)}
                </Table.Td>
                <Table.Td ta="right" className="figure" visibleFrom="sm">
                  {row.before === null ? '–' : showMoney(row.before.value)}
                </Table.Td>
                <Table.Td ta="right" className="figure" style={{ whiteSpace: 'nowrap' }}>
                  {row.before === null ? '–' : showChange(row.value, row.before.value)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {rows.length > shownAtFirst ? (
        <Button size="compact-xs" variant="subtle" mt={4} onClick={() => setAll(!isAll)}>
          {isAll ? `The first ${shownAtFirst}` : `All ${rows.length}`}
        </Button>
      ) : null}
    </section>
  );
}
