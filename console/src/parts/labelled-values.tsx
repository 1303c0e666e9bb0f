/** Values of one thing with their labels: a table of two columns. */
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  readonly rows: readonly (readonly [label: string, value: ReactNode])[];
  /** Width of the labels, in CSS. */
  readonly labelWidth: string;
}

export function LabelledValues({ rows, labelWidth }: Props) {
  return (
    <Table withRowBorders={false} verticalSpacing={2} horizontalSpacing={0}>
      <Table.Tbody>
        {rows.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Td w={labelWidth} c="dimmed">
              {label}
            </Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
