/** A list, alone on a screen or inside of another one: its table, or why there is none. */
import { Anchor, Button, Group, Text } from '@mantine/core';
import type { ComponentProps, ReactNode } from 'react';
import { Loading, PageTitle, Read } from './page.tsx';
import { DataTable } from './tables/data-table.tsx';
import { useColumns } from './tables/use-columns.ts';

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
  /** Reads the next page of what happened; null if there is none. */
  readonly earlier?: { readonly read: () => void; readonly isReading: boolean } | null;
}

type TableProps<Row> = Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'onVisible'> & {
  readonly list: List<Row>;
  /** What the rows are: "mails". */
  readonly what: string;
  /** Instead of a table without rows. */
  readonly empty: ReactNode;
  /** If the page shows other rows than those that were read. */
  readonly rows?: readonly Row[];
};

/** `ColumnsButton` chooses its columns. */
export function ListTable<Row>({ list, what, empty, rows = list.rows, ...table }: TableProps<Row>) {
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
        <Group justify="center" p="sm">
          <Button variant="default" loading={earlier.isReading} onClick={earlier.read}>
            Earlier {what}
          </Button>
        </Group>
      )}
    </>
  );
}

type ScreenProps<Row> = Omit<TableProps<Row>, 'label' | 'what'> & {
  readonly title: string;
  /** The table for screen readers, and the name of its columns and views, if it is not the title. */
  readonly label?: string;
  /** What the rows are, if it is not the title in small letters. */
  readonly what?: string;
  /** Beside the heading. */
  readonly actions?: ReactNode;
  /** Notices and filters, above the table. */
  readonly filters?: ReactNode;
  /** Notes and dialogs, below the table. */
  readonly children?: ReactNode;
};

/** A screen that is a list: its heading with buttons, its filters, and its table. */
export function ListScreen<Row>({ title, actions, filters, children, ...table }: ScreenProps<Row>) {
  const { label = title, what = title.toLowerCase() } = table;
  return (
    <>
      <PageTitle title={title}>{actions}</PageTitle>
      {filters}
      <ListTable {...table} label={label} what={what} />
      {children}
    </>
  );
}
