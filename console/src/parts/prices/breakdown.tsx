/** How the total of an order comes about. */
import { Table } from '@mantine/core';
import type { Result } from '../../../../client/src/index.ts';
import { showMoney, showNumber } from '../text/format.ts';

export type Breakdown = Result<'quoteOrder'>['breakdown'];

interface Row {
  readonly label: string;
  readonly amount: string;
  /** `note`: it is contained in the total. */
  readonly kind?: 'total' | 'note';
}

/** What comes between the lines of an order and its total, and the total. */
export function breakdownRows({ discount, delivery, tax }: Breakdown, total: number): readonly Row[] {
  const isFree = delivery?.amount === 0;
  const taxes = (tax?.rates ?? []).map(({ name, percent, net, amount }) => ({
    label: `${name} ${showNumber(percent)} % of ${showMoney(net)}`,
    amount: showMoney(amount),
  }));
  return [
    ...(discount === undefined
      ? []
      : [
          {
            label: `Discount ${discount.code}`,
            amount: discount.amount === 0 && isFree ? 'free delivery' : showMoney(-discount.amount),
          },
        ]),
    ...(delivery === undefined
      ? []
      : [
          {
            label: `${delivery.kind === 'pickup' ? 'Pickup' : 'Delivery'}: ${delivery.name}`,
            amount: isFree ? 'free' : showMoney(delivery.amount),
          },
        ]),
    ...(tax?.included === false ? taxes : []),
    { label: 'Total', amount: showMoney(total), kind: 'total' },
    ...(tax?.included === true
      ? taxes.map(({ label, amount }) => ({ label: `of which ${label}`, amount, kind: 'note' as const }))
      : []),
    ...(tax !== undefined && tax.rates.length === 0
      ? [{ label: 'Tax: no rate is for this place', amount: showMoney(0), kind: 'note' as const }]
      : []),
  ];
}

interface Props {
  readonly breakdown: Breakdown;
  readonly total: number;
}

/** A table of its own, from the sum of the lines on. */
export function BreakdownTable({ breakdown, total }: Props) {
  const rows = breakdownRows(breakdown, total);
  const subtotal = { label: 'Cheeses', amount: showMoney(breakdown.subtotal) } as const;
  return (
    <Table withRowBorders={false} verticalSpacing={2} horizontalSpacing={0} aria-label="Breakdown">
      <Table.Tbody>
        {[...(rows.length > 1 ? [subtotal] : []), ...rows].map((row) => (
          <Table.Tr key={row.label}>
            <AmountCells {...row} />
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** @param labelSpan columns of the table that the label takes */
export function AmountCells({ label, amount, kind, labelSpan = 1 }: Row & { readonly labelSpan?: number }) {
  const weight = kind === 'total' ? 700 : 400;
  const color = kind === 'note' ? 'dimmed' : 'var(--mantine-color-text)';
  return (
    <>
      <Table.Td colSpan={labelSpan} fw={weight} c={color}>
        {label}
      </Table.Td>
      <Table.Td ta="right" fw={weight} c={color} className="figure">
        {amount}
      </Table.Td>
    </>
  );
}
