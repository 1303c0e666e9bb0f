/** The catalogue as a table: search, filters, changes in the row, and actions on many cheeses. */
import { Anchor, Button, Group, Kbd, Text } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { createContext, useContext, useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Cheese } from '../../../../../client/src/index.ts';
import { useSignedIn } from '../../../data/queries.ts';
import { shopCommand } from '../../../environment.ts';
import { ListScreen } from '../../../parts/list-screen.tsx';
import { Empty } from '../../../parts/page.tsx';
import { type Rest, useSelectAll } from '../../../parts/select-all.ts';
import { ColumnsButton } from '../../../parts/tables/columns-button.tsx';
import { CsvButton } from '../../../parts/tables/csv-button.tsx';
import type { Column } from '../../../parts/tables/table-row.tsx';
import { showKilograms, showNumber } from '../../../parts/text/format.ts';
import { Time } from '../../../parts/text/time.tsx';
import { useUrlFilters } from '../../../parts/url-filters.ts';
import { useListedChange } from '../change.tsx';
import { flagFields, showField, toFieldTitle } from '../fields.ts';
import { useAvailable, useCheeses } from '../queries.ts';
import { type BulkAction, CheeseBulk } from './bulk-actions.tsx';
import { PriceCell, StatusCell, Thumbnail } from './cells.tsx';
import { ChangeMany } from './change-many.tsx';
import { csvColumns } from './csv-columns.ts';
import { type Facets, FilterBar, type SetFilters } from './filter-bar.tsx';
import { type CheeseFilters, countFilters, filterReaders, statuses } from './filters.ts';

const shownTags = 2;

export function CheeseList() {
  const [, navigate] = useLocation();
  const { curd, person } = useSignedIn();
  const { filters, change: changeFilters } = useUrlFilters(filterReaders);
  const list = useCheeses(filters);
  const { pages, rows } = list;
  const available = useAvailable(
    person.mayWriteCheeses ? pages.map(({ items }) => items.map(({ id }) => id)) : [],
    list.pagesInView,
  );
  const { change, dialog } = useListedChange();
  const [selected, setSelected] = useState<ReadonlySet<number | string>>(new Set());
  const read = (max: number) => curd.cheeses.list({ ...filters, limit: 100 }).take(max);
  const { all, restOf, selectAll } = useSelectAll(list, filters, setSelected, read);
  const [bulk, setBulk] = useState<BulkAction | 'change' | null>(null);
  const [first] = pages;
  const facets: Facets | undefined = first !== undefined && 'facets' in first ? first.facets : undefined;

  const setFilters: SetFilters = (changes) => {
    changeFilters(changes);
    setSelected(new Set());
  };

  const columns = useMemo(() => columnsOf(person.mayWriteCheeses, change), [person.mayWriteCheeses, change]);
  const known = [...new Map([...all, ...rows].map((cheese) => [cheese.id, cheese])).values()];
  const chosen = known.filter(({ id }) => selected.has(id));
  const closeBulk = (isDone: boolean) => {
    setBulk(null);
    if (isDone) {
      setSelected(new Set());
    }
  };

  return (
    <AvailableContext value={available}>
      <ListScreen
        title="Cheeses"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        onOpen={({ id }) => navigate(`/cheeses/${id}`)}
        selected={person.mayWriteCheeses ? selected : undefined}
        onSelect={setSelected}
        onSelectAll={() => void selectAll()}
        keys={person.mayWriteCheeses ? statusKeys(change) : undefined}
        empty={<NoCheeses filters={filters} />}
        actions={
          <>
            <Text size="sm" c="dimmed" role="status">
              {first === undefined
                ? ''
                : `${showNumber(first.total)} ${first.total === 1 ? 'cheese' : 'cheeses'}`}
            </Text>
            <CsvButton
              name="cheeses"
              columns={csvColumns}
              read={read}
              remedy={`For all of them, run: ${shopCommand} export cheeses cheeses.csv`}
            />
            {person.mayWriteCheeses ? (
              <Button
                size="xs"
                component={Link}
                href="/cheeses/new"
                leftSection={<PlusIcon aria-hidden="true" />}
              >
                New cheese
              </Button>
            ) : null}
          </>
        }
        filters={
          <>
            <FilterBar filters={filters} facets={facets} onChange={setFilters}>
              <ColumnsButton list="Cheeses" columns={columns} />
            </FilterBar>
            {chosen.length === 0 ? null : (
              <SelectionBar
                cheeses={chosen}
                rest={restOf(chosen.length)}
                onAction={setBulk}
                onClear={() => setSelected(new Set())}
              />
            )}
          </>
        }
      >
        {rows.length > 0 && person.mayWriteCheeses ? (
          <Text size="xs" c="dimmed" mt="sm" visibleFrom="sm">
            <Kbd size="xs">1</Kbd> available, <Kbd size="xs">2</Kbd> pending, <Kbd size="xs">3</Kbd> sold, for
            the current row
          </Text>
        ) : null}
        {dialog}
        {bulk === null ? null : bulk === 'change' ? (
          <ChangeMany cheeses={chosen} onClose={closeBulk} />
        ) : (
          <CheeseBulk
            action={bulk}
            cheeses={bulk === 'delete' ? chosen : chosen.filter(({ status }) => status !== bulk)}
            onClose={closeBulk}
          />
        )}
      </ListScreen>
    </AvailableContext>
  );
}

type Change = ReturnType<typeof useListedChange>['change'];

/** 1, 2 and 3 set the status of the current row. */
const statusKeys = (change: Change) =>
  Object.fromEntries(
    statuses.map((status, index) => [
      String(index + 1),
      (row: Cheese) => (row.status === status ? undefined : void change(row, { status })),
    ]),
  );

function NoCheeses({ filters }: { readonly filters: CheeseFilters }) {
  return countFilters(filters) > 0 || filters.q !== undefined ? (
    <Empty title="No cheese matches">Change or clear the filters.</Empty>
  ) : (
    <Empty title="No cheeses yet">
      <Anchor component={Link} href="/cheeses/new">
        Add a cheese
      </Anchor>
      , or{' '}
      <Anchor component={Link} href="/import">
        import a file
      </Anchor>
      .
    </Empty>
  );
}

interface SelectionProps {
  readonly cheeses: readonly Cheese[];
  /** Selects those of the list that were not read yet, too. */
  readonly rest: Rest | null;
  readonly onAction: (action: BulkAction | 'change') => void;
  readonly onClear: () => void;
}

function SelectionBar({ cheeses, rest, onAction, onClear }: SelectionProps) {
  return (
    <Group className="card selection" gap="xs" mb="sm" py={6}>
      <Text size="sm" fw={600}>
        {showNumber(cheeses.length)} selected
      </Text>
      {rest === null ? null : (
        <Button size="compact-sm" variant="subtle" loading={rest.isReading} onClick={rest.onSelect}>
          {rest.label}
        </Button>
      )}
      {statuses
        .filter((status) => cheeses.some((cheese) => cheese.status !== status))
        .map((status) => (
          <Button key={status} size="compact-sm" variant="default" onClick={() => onAction(status)}>
            Set {status}
          </Button>
        ))}
      <Button size="compact-sm" variant="default" onClick={() => onAction('change')}>
        Prices, category, tags
      </Button>
      <Button size="compact-sm" variant="outline" color="red" onClick={() => onAction('delete')}>
        Delete
      </Button>
      <Button size="compact-sm" variant="subtle" onClick={onClear}>
        Clear selection
      </Button>
    </Group>
  );
}

/** Kilograms available by id. Not a part of the columns, so that a new number renders its cell only. */
const AvailableContext = createContext<ReadonlyMap<number, number>>(new Map());

function Available({ id }: Pick<Cheese, 'id'>) {
  const kilograms = useContext(AvailableContext).get(id);
  return kilograms === undefined ? <None /> : showKilograms(kilograms);
}

function columnsOf(mayWrite: boolean, change: Change): readonly Column<Cheese>[] {
  return [
    { title: 'Image', show: (cheese) => <Thumbnail cheese={cheese} />, isWideOnly: true },
    {
      title: 'Name',
      show: ({ id, name }) => (
        <Anchor component={Link} href={`/cheeses/${id}`} size="sm" fw={600} className="row-name">
          {name}
        </Anchor>
      ),
    },
    { title: 'Category', show: ({ category }) => category?.name ?? <None /> },
    { title: 'Tags', show: ({ tags }) => <Tags names={tags.map(({ name }) => name)} />, isWideOnly: true },
    {
      title: 'Status',
      show: (cheese) =>
        mayWrite ? (
          <StatusCell cheese={cheese} onChange={(status) => void change(cheese, { status })} />
        ) : (
          cheese.status
        ),
    },
    {
      title: 'Price',
      isNumber: true,
      show: (cheese) =>
        mayWrite ? (
          <PriceCell cheese={cheese} onChange={(seen, pricePerKg) => void change(seen, { pricePerKg })} />
        ) : (
          showField(cheese.pricePerKg, 'pricePerKg')
        ),
    },
    {
      title: 'Months',
      isNumber: true,
      isWideOnly: true,
      show: ({ ageMonths }) => ageMonths ?? <None />,
    },
    ...flagFields.map((field) => ({
      title: toFieldTitle(field),
      isWideOnly: true,
      show: (cheese: Cheese) => (cheese[field] ? 'yes' : <None />),
    })),
    { title: 'Stock', isNumber: true, show: ({ id }) => <Available id={id} /> },
    {
      title: 'Changed',
      isWideOnly: true,
      show: ({ updatedAt }) => <Time at={updatedAt} isRelative />,
    },
  ];
}

function Tags({ names }: { readonly names: readonly string[] }) {
  const more = names.length - shownTags;
  return (
    <span className="tags" title={names.join(', ')}>
      {names.slice(0, shownTags).map((name) => (
        <span key={name} className="tag">
          {name}
        </span>
      ))}
      {more > 0 ? <span className="dimmed">+{more}</span> : null}
    </span>
  );
}

/** A field without a value. */
function None() {
  return <span className="dimmed">-</span>;
}
