/** The table of a list, or why there is none. `ColumnsButton` chooses its columns. */
import { Anchor, Button, Center, Text } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { Loading, Read } from '../page.tsx';
import { useColumns } from './columns.tsx';
import { DataTable } from './data-table.tsx';

/** What `useList`, `usePages` and `useNewestFirst` return. */
export interface List<Row> {
  /** None until they are read. */
  readonly rows: readonly Row[];
  /** Undefined until it is read. */
  readonly data: unknown;
  readonly error: unknown;
  readonly refetch: () => unknown;
  readonly onVisible?: (first: number, last: number) => void;
  readonly toBegin?: (() => void) | null;
  readonly isFetchingNextPage?: boolean;
  /** The rows are those of the filters before, until the new ones are read. */
  readonly isPlaceholderData?: boolean;
  /** Reads the next page of what happened; null where there is none. */
  readonly earlier?: { readonly read: () => void; readonly isReading: boolean } | null;
}

type Props<Row> = Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'onVisible'> & {
  readonly list: List<Row>;
  /** What the rows are: "mails". */
  readonly what: string;
  /** Instead of a table without rows. */
  readonly empty: ReactNode;
  /** If the page shows other rows than those that were read. */
  readonly rows?: readonly Row[];
};

export function ListTable<Row>({ list, what, empty, rows = list.rows, ...table }: Props<Row>) {
  const { label, columns } = table;
  const { shown } = useColumns(label, columns);
  const { toBegin = null, earlier = null, isPlaceholderData = false } = list;
  return (
    <>
      {toBegin === null ? null : (
        <Text size="sm" mb="xs">
          <Anchor component="button" size="sm" onClick={toBegin}>
            Show the list from its beginning
          </Anchor>
        </Text>
      )}
      <Read of={list} what={what}>
        {() =>
          rows.length === 0 ? (
            empty
          ) : (
            <div aria-busy={isPlaceholderData} style={{ opacity: isPlaceholderData ? 0.4 : 1 }}>
              <DataTable {...table} columns={shown} rows={rows} onVisible={list.onVisible} />
            </div>
          )
        }
      </Read>
      {list.isFetchingNextPage === true && earlier === null ? <Loading what="more rows" /> : null}
      {earlier === null ? null : (
        <Center p="sm">
          <Button variant="default" loading={earlier.isReading} onClick={earlier.read}>
            Earlier {what}
          </Button>
        </Center>
      )}
    </>
  );
}
