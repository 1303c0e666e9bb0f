/** What happened to the stock of one cheese, beside the list. */
import { Stack } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { SideDialog } from '../../parts/dialogs/side-dialog.tsx';
import { History } from '../cheeses/history.tsx';
import { StockPanel } from './stock-panel.tsx';

interface Props {
  readonly cheeseId: number;
  /** Absent when the list does not have it. */
  readonly name: string | undefined;
  readonly onClose: () => void;
}

export function StockHistory({ cheeseId, name, onClose }: Props) {
  const { data } = useApi([`cheese ${cheeseId}`, 'name', name], async (curd) =>
    name === undefined ? (await curd.cheeses.get(cheeseId)).name : name,
  );
  const title = name ?? data ?? `Cheese ${cheeseId}`;
  return (
    <SideDialog onClose={onClose} title={title}>
      <Stack>
        <StockPanel cheeseId={cheeseId} name={title} hasLink={false} />
        <History subject={`stock:${cheeseId}`} queryKey="stock" />
      </Stack>
    </SideDialog>
  );
}
