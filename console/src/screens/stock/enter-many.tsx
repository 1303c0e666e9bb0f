/** Kilograms of several cheeses at once: counted on a walk through the storeroom, or received with a delivery. */
import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useCurd } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { Bulk } from '../../parts/dialogs/bulk.tsx';
import { Dialog } from '../../parts/dialogs/dialog.tsx';
import { readNumber } from '../../parts/fields/number.ts';
import { NumberField } from '../../parts/fields/number-field.tsx';
import { showKilograms } from '../../parts/text/format.ts';
import type { StockRow } from './read-stock.ts';
import { countStock, kilogramRules } from './stock-dialogs.tsx';

interface Props {
  readonly kind: 'count' | 'receive';
  readonly rows: readonly StockRow[];
  readonly onClose: () => void;
}

const texts = {
  count: {
    title: 'Count the stock',
    verb: 'Count',
    hint: 'Enter what lies in the storeroom. Empty fields stay as they are.',
    column: 'Counted (kg)',
    field: 'Counted kilograms of',
    action: (count: number) => `Save ${count === 1 ? '1 count' : `${count} counts`}`,
  },
  receive: {
    title: 'Receive a delivery',
    verb: 'Receive',
    hint: 'Enter what arrived: it is added to what is on hand. Empty fields stay as they are.',
    column: 'Received (kg)',
    field: 'Received kilograms of',
    action: (count: number) => `Receive ${count === 1 ? '1 cheese' : `${count} cheeses`}`,
  },
} as const;

export function EnterMany({ kind, rows, onClose }: Props) {
  const { title, verb, hint, column, field, action } = texts[kind];
  const curd = useCurd();
  // What was on hand when the count began.
  const [items] = useState(rows);
  const [written, setWritten] = useState<ReadonlyMap<number, string>>(new Map());
  const [isSaving, setSaving] = useState(false);
  const read = (id: number) => readNumber(written.get(id) ?? '', kilogramRules);
  const isEntered = (value: number | null) => value !== null && (kind === 'count' || value > 0);
  const changed = items.filter(({ cheeseId }) => isEntered(read(cheeseId).value));
  const isReady = changed.length > 0 && items.every(({ cheeseId }) => read(cheeseId).problem === null);

  if (isSaving) {
    return (
      <Bulk
        title={`${verb} ${changed.length === 1 ? '1 cheese' : `${changed.length} cheeses`}`}
        items={changed}
        nameOf={({ cheeseName }) => cheeseName}
        run={(row) => {
          const kilograms = read(row.cheeseId).value ?? 0;
          return kind === 'count'
            ? countStock(curd, row.cheeseId, row, { onHand: kilograms, lowAt: row.lowAt })
            : curd.stock.adjust(row.cheeseId, { deltaKg: kilograms, reason: 'received' });
        }}
        onClose={() => {
          void invalidate('stock');
          onClose();
        }}
      />
    );
  }
  return (
    <Dialog onClose={onClose} title={title} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSaving(isReady);
        }}
        onKeyDown={(event) => {
          const inputs = [...event.currentTarget.querySelectorAll('input')];
          const next = inputs[inputs.indexOf(event.target as HTMLInputElement) + 1];
          // Enter is for the next cheese, and saves after the last one.
          if (event.key === 'Enter' && event.target instanceof HTMLInputElement && next !== undefined) {
            event.preventDefault();
            next.select();
          }
        }}
      >
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Cheese</Table.Th>
                <Table.Th ta="right">On hand</Table.Th>
                <Table.Th>{column}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map(({ cheeseId, cheeseName, onHand }, index) => (
                <Table.Tr key={cheeseId}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{cheeseName}</Table.Td>
                  <Table.Td ta="right" className="figure">
                    {showKilograms(onHand)}
                  </Table.Td>
                  <Table.Td>
                    <NumberField
                      size="xs"
                      w={{ base: 84, sm: 120 }}
                      aria-label={`${field} ${cheeseName}`}
                      data-autofocus={index === 0 || undefined}
                      rules={kilogramRules}
                      value={written.get(cheeseId) ?? ''}
                      onChange={(text) => setWritten(new Map(written).set(cheeseId, text))}
                    />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady}>
              {action(changed.length)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
