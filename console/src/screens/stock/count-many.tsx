/** Counts several cheeses at once, as on a walk through the storeroom. */
import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useCurd } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { Dialog } from '../../parts/dialogs/dialog.tsx';
import { readNumber } from '../../parts/fields/number.ts';
import { NumberField } from '../../parts/fields/number-field.tsx';
import { Bulk } from '../../parts/tables/bulk.tsx';
import { showKilograms } from '../../parts/text/format.ts';
import type { StockRow } from './read-stock.ts';
import { countStock, kilogramRules } from './stock-dialogs.tsx';

interface Props {
  readonly rows: readonly StockRow[];
  readonly onClose: () => void;
}

export function CountMany({ rows, onClose }: Props) {
  const curd = useCurd();
  // What was on hand when the count began.
  const [items] = useState(rows);
  const [counted, setCounted] = useState<ReadonlyMap<number, string>>(new Map());
  const [isSaving, setSaving] = useState(false);
  const read = (id: number) => readNumber(counted.get(id) ?? '', kilogramRules);
  const changed = items.filter(({ cheeseId }) => read(cheeseId).value !== null);
  const isReady = changed.length > 0 && items.every(({ cheeseId }) => read(cheeseId).problem === null);

  if (isSaving) {
    return (
      <Bulk
        title={changed.length === 1 ? 'Count 1 cheese' : `Count ${changed.length} cheeses`}
        items={changed}
        nameOf={({ cheeseName }) => cheeseName}
        run={(row) =>
          countStock(curd, row.cheeseId, row, { onHand: read(row.cheeseId).value ?? 0, lowAt: row.lowAt })
        }
        onClose={() => {
          void invalidate('stock');
          onClose();
        }}
      />
    );
  }
  return (
    <Dialog onClose={onClose} title="Count the stock" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSaving(isReady);
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
                <Table.Th>Counted (kg)</Table.Th>
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
                    <NumberField
                      size="xs"
                      w={120}
                      aria-label={`Counted kilograms of ${cheeseName}`}
                      rules={kilogramRules}
                      value={counted.get(cheeseId) ?? ''}
                      onChange={(text) => setCounted(new Map(counted).set(cheeseId, text))}
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
              Save {changed.length === 1 ? '1 count' : `${changed.length} counts`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
