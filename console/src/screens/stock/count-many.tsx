/** Counts several cheeses at once, as on a walk through the storeroom. */
import { Button, Group, Modal, NumberInput, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { invalidate } from '../../parts/action.ts';
import { Bulk } from '../../parts/bulk.tsx';
import { showKilograms } from '../../parts/format.ts';
import { useCurd } from '../../queries.ts';
import type { StockRow } from './stock.tsx';
import { countStock, kilogramsMax } from './stock-dialogs.tsx';

interface Props {
  readonly rows: readonly StockRow[];
  readonly onClose: () => void;
}

export function CountMany({ rows, onClose }: Props) {
  const curd = useCurd();
  // What was on hand when the count began.
  const [items] = useState(rows);
  const [counted, setCounted] = useState<ReadonlyMap<number, number | string>>(new Map());
  const [isSaving, setSaving] = useState(false);
  const changed = items.filter(({ cheeseId }) => (counted.get(cheeseId) ?? '') !== '');

  if (isSaving) {
    return (
      <Bulk
        title={changed.length === 1 ? 'Count 1 cheese' : `Count ${changed.length} cheeses`}
        items={changed}
        nameOf={({ cheeseName }) => cheeseName}
        run={(row) =>
          countStock(curd, row.cheeseId, row, { onHand: Number(counted.get(row.cheeseId)), lowAt: row.lowAt })
        }
        onClose={() => {
          void invalidate('stock');
          onClose();
        }}
      />
    );
  }
  return (
    <Modal opened onClose={onClose} title="Count the stock" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSaving(changed.length > 0);
        }}
      >
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            Enter what lies in the storeroom. Empty fields stay as they are.
          </Text>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Cheese</Table.Th>
                <Table.Th ta="right">On hand</Table.Th>
                <Table.Th>Counted</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {items.map(({ cheeseId, cheeseName, onHand }) => (
                <Table.Tr key={cheeseId}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{cheeseName}</Table.Td>
                  <Table.Td ta="right" className="figure">
                    {showKilograms(onHand)}
                  </Table.Td>
                  <Table.Td>
                    <NumberInput
                      size="xs"
                      w={120}
                      aria-label={`Counted kilograms of ${cheeseName}`}
                      allowDecimal={false}
                      allowNegative={false}
                      min={0}
                      max={kilogramsMax}
                      suffix=" kg"
                      value={counted.get(cheeseId) ?? ''}
                      onChange={(value) => setCounted(new Map(counted).set(cheeseId, value))}
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
            <Button type="submit" disabled={changed.length === 0}>
              Save {changed.length === 1 ? '1 count' : `${changed.length} counts`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
