/** The table of a list that is read in pages. `ColumnsButton` chooses its columns. */
import { Anchor, Text } from '@mantine/core';
import type { ComponentProps } from 'react';
import { Loading } from '../page.tsx';
import { useColumns } from './columns.tsx';
import { DataTable } from './data-table.tsx';

/** What `usePages` returns, of which the table needs this. */
interface List<Row> {
  readonly rows: readonly Row[];
  readonly onVisible: (first: number, last: number) => void;
  readonly toBegin: (() => void) | null;
  readonly isFetchingNextPage: boolean;
  /** The rows are those of the filters before, until the new ones are read. */
  readonly isPlaceholderData: boolean;
}

type Props<Row> = Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'onVisible'> & {
  readonly list: List<Row>;
  /** Where the page shows other rows than those that were read. */
  readonly rows?: readonly Row[];
};

export function PagedTable<Row>({ list, rows = list.rows, ...table }: Props<Row>) {
  const { label, columns } = table;
  const { shown } = useColumns(label, columns);
  return (
    <>
      {list.toBegin === null ? null : (
        <Text size="sm" mb="xs">
          <Anchor component="button" size="sm" onClick={list.toBegin}>
            Show the list from its beginning
          </Anchor>
        </Text>
      )}
      <div aria-busy={list.isPlaceholderData} style={{ opacity: list.isPlaceholderData ? 0.4 : 1 }}>
        <DataTable {...table} columns={shown} rows={rows} onVisible={list.onVisible} />
      </div>
      {list.isFetchingNextPage ? <Loading what="more rows" /> : null}
    </>
  );
}
