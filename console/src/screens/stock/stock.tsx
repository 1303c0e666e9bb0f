/** The tracked cheeses with their kilograms. */
import { Anchor, Button, Group, Text } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { createContext, useContext, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useCurd } from '../../data/queries.ts';
import { SearchField } from '../../parts/fields/search-field.tsx';
import { TabsFilter } from '../../parts/fields/tabs-filter.tsx';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { ColumnsButton } from '../../parts/tables/columns-button.tsx';
import { CsvButton } from '../../parts/tables/csv-button.tsx';
import { usePages } from '../../parts/tables/pages.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showKilograms, showNumber } from '../../parts/text/format.ts';
import { readId } from '../../parts/text/ids.ts';
import { asOneOf, asText, type Changes, useUrlFilters } from '../../parts/url-filters.ts';
import { BeginTracking } from './begin-tracking.tsx';
import { EnterMany } from './enter-many.tsx';
import { LevelBadge } from './level-badge.tsx';
import { readAllStock, readStockPage, type StockRow, type StockView } from './read-stock.ts';
import { type StockAction, StockDialog } from './stock-dialogs.tsx';
import { StockHistory } from './stock-history.tsx';
import { showSupply } from './supply.ts';
import { useSales } from './use-sales.ts';

interface Page {
  readonly items: readonly StockRow[];
}

const filterReaders = { low: asOneOf(['true']), q: asText(100) };

const csvColumns = {
  cheeseId: ({ cheeseId }: StockRow) => cheeseId,
  cheeseName: ({ cheeseName }: StockRow) => cheeseName,
  status: ({ status }: StockRow) => status,
  onHand: ({ onHand }: StockRow) => onHand,
  reserved: ({ reserved }: StockRow) => reserved,
  available: ({ available }: StockRow) => available,
  lowAt: ({ lowAt }: StockRow) => lowAt,
};

export default function StockScreen({ id }: ScreenProps) {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const search = useSearch();
  const query = search === '' ? '' : `?${search}`;
  const { filters, change } = useUrlFilters(filterReaders);
  const view = { isLowOnly: filters.low === 'true', q: filters.q ?? '' };
  const [selected, setSelected] = useState<ReadonlySet<number | string>>(new Set());
  const [open, setOpen] = useState<{ readonly action: StockAction; readonly row: StockRow } | null>(null);
  const [dialog, setDialog] = useState<'begin' | 'count' | 'receive' | null>(null);
  const list = usePages({
    key: ['stock', 'list', view],
    read: (request) => readStockPage(curd, view, request),
    idOf: ({ cheeseId }) => cheeseId,
  });
  const { pages, rows } = list;
  const [top, bottom] = list.pagesInView;
  const columns = useMemo(() => columnsOf((action, row) => setOpen({ action, row })), []);
  const chosen = rows.filter(({ cheeseId }) => selected.has(cheeseId));
  const [first] = pages;
  const openId = readId(id);
  const filter = (changes: Changes<typeof filterReaders>) => {
    change(changes);
    setSelected(new Set());
  };

  return (
    <PagesContext value={pages.slice(top, bottom + 1)}>
      <ListScreen
        title="Stock"
        what="the stock"
        list={list}
        columns={columns}
        keyOf={({ cheeseId }) => cheeseId}
        nameOf={({ cheeseName }) => cheeseName}
        onOpen={({ cheeseId }) => navigate(`/stock/${cheeseId}${query}`)}
        selected={selected}
        onSelect={setSelected}
        empty={<NoStock view={view} />}
        actions={
          <>
            <Text size="sm" c="dimmed" role="status">
              {first?.total === undefined
                ? ''
                : `${showNumber(first.total)} ${view.isLowOnly ? 'sold out or low' : 'tracked'}`}
            </Text>
            <CsvButton
              name="stock"
              columns={csvColumns}
              read={(max) => readAllStock(curd, view, max)}
              remedy="Search, or choose Sold out and low. The API lists all of them: GET /v2/stock."
            />
            <Button
              size="xs"
              leftSection={<PlusIcon aria-hidden="true" />}
              onClick={() => setDialog('begin')}
            >
              Track a cheese
            </Button>
          </>
        }
        filters={
          <Group mb="sm" gap="xs">
            <SearchField label="Search stock" text={view.q} onChange={(q) => filter({ q })} />
            <TabsFilter
              label="Which cheeses"
              all="All"
              values={['true']}
              nameOf={() => 'Sold out and low'}
              value={filters.low}
              onChange={(low) => filter({ low })}
            />
            {chosen.length === 0 ? null : (
              <>
                <Button size="xs" onClick={() => setDialog('receive')}>
                  Receive {chosen.length === 1 ? '1 cheese' : `${chosen.length} cheeses`}
                </Button>
                <Button size="xs" variant="default" onClick={() => setDialog('count')}>
                  Count {chosen.length === 1 ? '1 cheese' : `${chosen.length} cheeses`}
                </Button>
              </>
            )}
            <Group ml="auto">
              <ColumnsButton list="Stock" columns={columns} />
            </Group>
          </Group>
        }
      >
        {open === null ? null : (
          <StockDialog
            action={open.action}
            cheeseId={open.row.cheeseId}
            name={open.row.cheeseName}
            stock={open.row}
            onClose={() => setOpen(null)}
          />
        )}
        {dialog === 'begin' ? <BeginTracking onClose={() => setDialog(null)} /> : null}
        {dialog === 'count' || dialog === 'receive' ? (
          <EnterMany
            kind={dialog}
            rows={chosen}
            onClose={() => {
              setDialog(null);
              setSelected(new Set());
            }}
          />
        ) : null}
        {openId === undefined ? null : (
          <StockHistory
            cheeseId={openId}
            name={rows.find(({ cheeseId }) => cheeseId === openId)?.cheeseName}
            onClose={() => navigate(`/stock${query}`)}
          />
        )}
      </ListScreen>
    </PagesContext>
  );
}

function NoStock({ view: { isLowOnly, q } }: { readonly view: StockView }) {
  if (q !== '') {
    return (
      <Empty title="No stock matches">
        {isLowOnly ? 'Nothing with this name is sold out or low.' : 'No tracked cheese has this name.'}
      </Empty>
    );
  }
  return isLowOnly ? (
    <Empty title="Nothing is sold out or low">
      A cheese is listed here when nothing of it is available, or when its available kilograms fall to its
      number "low at".
    </Empty>
  ) : (
    <Empty title="No stock is tracked">
      Cheeses are sold without limit until you track them: then orders reserve kilograms, and what is not
      there cannot be ordered.
    </Empty>
  );
}

function columnsOf(onAction: (action: StockAction, row: StockRow) => void): readonly Column<StockRow>[] {
  return [
    {
      title: 'Cheese',
      show: ({ cheeseId, cheeseName }) => (
        <Anchor component={Link} href={`/cheeses/${cheeseId}`} size="sm" fw={600} className="row-name">
          {cheeseName}
        </Anchor>
      ),
    },
    { title: 'Status', show: ({ status }) => status, isWideOnly: true },
    { title: 'On hand', isNumber: true, show: ({ onHand }) => showKilograms(onHand) },
    { title: 'Reserved', isNumber: true, show: ({ reserved }) => showKilograms(reserved) },
    {
      title: 'Available',
      isNumber: true,
      show: (row) => (
        <Group gap={6} wrap="nowrap" justify="flex-end" display="inline-flex">
          <LevelBadge stock={row} />
          <strong>{showKilograms(row.available)}</strong>
        </Group>
      ),
    },
    {
      title: 'Low at',
      isNumber: true,
      isWideOnly: true,
      show: ({ lowAt }) => (lowAt === null ? '-' : showKilograms(lowAt)),
    },
    {
      title: 'Supply',
      isNumber: true,
      show: (row) => <Supply row={row} />,
    },
    {
      title: 'Actions',
      show: (row) => (
        <Group gap={4} className="actions">
          {(['adjust', 'count', 'end'] as const).map((action) => (
            <Button
              key={action}
              size="compact-xs"
              variant={action === 'end' ? 'subtle' : 'default'}
              aria-label={`${actionNames[action]}: ${row.cheeseName}`}
              onClick={() => onAction(action, row)}
            >
              {actionNames[action]}
            </Button>
          ))}
          <Button
            size="compact-xs"
            variant="subtle"
            component={Link}
            href={`/stock/${row.cheeseId}`}
            aria-label={`History: ${row.cheeseName}`}
          >
            History
          </Button>
        </Group>
      ),
    },
  ];
}

const actionNames = { adjust: 'Adjust', count: 'Count', end: 'End tracking' } as const;

/** The pages in view. Sales are read for a whole page at once. */
const PagesContext = createContext<readonly Page[]>([]);

function Supply({ row }: { readonly row: StockRow }) {
  const page = useContext(PagesContext).find(({ items }) =>
    items.some(({ cheeseId }) => cheeseId === row.cheeseId),
  );
  const sales = useSales(page?.items.map(({ cheeseId }) => cheeseId) ?? []);
  return <>{showSupply(row.available, row.cheeseId, sales)}</>;
}
