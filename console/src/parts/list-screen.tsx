/** A screen that is a list: its heading with buttons, its filters, and its table. */
import type { ComponentProps, ReactNode } from 'react';
import { PageTitle } from './page.tsx';
import { ListTable } from './tables/list-table.tsx';

type Props<Row> = Omit<ComponentProps<typeof ListTable<Row>>, 'label' | 'what'> & {
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

export function ListScreen<Row>({ title, actions, filters, children, ...table }: Props<Row>) {
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
