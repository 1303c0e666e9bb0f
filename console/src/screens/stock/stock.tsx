/** The tracked cheeses with their kilograms. */
import { Anchor, Button, Group, SegmentedControl, Text } from '@mantine/core';
import { PlusIcon } from '@radix-ui/react-icons';
import { createContext, useContext, useMemo, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useCurd } from '../../data/queries.ts';
import { SearchField } from '../../parts/fields/search-field.tsx';
import { Empty, Loading, PageTitle, Problem } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { ColumnsButton } from '../../parts/tables/columns.tsx';
import { CsvButton } from '../../parts/tables/csv-button.tsx';
import { PagedTable } from '../../parts/tables/paged-table.tsx';
import { usePages } from '../../parts/tables/pages.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showKilograms, showNumber } from '../../parts/text/format.ts';
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
  const [params] = useSearchParams();
  const isLowOnly = params.get('low') === 'true';
  const q = (params.get('q') ?? '').trim().slice(0, 100);
  const view = { isLowOnly, q };
  const back = hrefOf('/stock', view);
  const [selected, setSelected] = useState<ReadonlySet<number | string>>(new Set());
  const [open, setOpen] = useState<{ readonly action: StockAction; readonly row: StockRow } | null>(null);
  const [dialog, setDialog] = useState<'begin' | 'count' | 'receive' | null>(null);
  const list = usePages({
    key: ['stock', 'list', isLowOnly, q],
    read: (request) => readStockPage(curd, view, request),
    idOf: ({ cheeseId }) => cheeseId,
  });
  const { pages, rows } = list;
  const [top, bottom] = list.pagesInView;
  const columns = useMemo(() => columnsOf((action, row) => setOpen({ action, row })), []);
  const chosen = rows.filter(({ cheeseId }) => selected.has(cheeseId));
  const [first] = pages;

  return (
    <>
      <PageTitle title="Stock">
        <Text size="sm" c="dimmed" role="status">
          {first?.total === undefined
            ? ''
            : `${showNumber(first.total)} ${isLowOnly ? 'sold out or low' : 'tracked'}`}
        </Text>
        <CsvButton
          name="stock"
          columns={csvColumns}
          read={(max) => readAllStock(curd, view, max)}
          remedy="Search, or choose Sold out and low. The API lists all of them: GET /v2/stock."
        />
        <Button size="xs" leftSection={<PlusIcon aria-hidden="true" />} onClick={() => setDialog('begin')}>
          Track a cheese
        </Button>
      </PageTitle>
      <Group mb="sm" gap="xs">
        <SearchField
          label="Search stock"
          text={q}
          onChange={(text) => {
            navigate(hrefOf('/stock', { isLowOnly, q: text }), { replace: true });
            setSelected(new Set());
          }}
        />
        <SegmentedControl
          size="xs"
          aria-label="Which cheeses"
          data={[
            { value: 'all', label: 'All' },
            { value: 'low', label: 'Sold out and low' },
          ]}
          value={isLowOnly ? 'low' : 'all'}
          onChange={(value) => {
            navigate(hrefOf('/stock', { isLowOnly: value === 'low', q }), { replace: true });
            setSelected(new Set());
          }}
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
      {list.isPending ? <Loading what="the stock" /> : null}
      {list.isError ? <Problem error={list.error} retry={list.refetch} /> : null}
      {list.isSuccess && rows.length === 0 ? <NoStock view={view} /> : null}
      {rows.length === 0 ? null : (
        <PagesContext value={pages.slice(top, bottom + 1)}>
          <PagedTable
            list={list}
            label="Stock"
            columns={columns}
            keyOf={({ cheeseId }) => cheeseId}
            nameOf={({ cheeseName }) => cheeseName}
            onOpen={({ cheeseId }) => navigate(hrefOf(`/stock/${cheeseId}`, view))}
            selected={selected}
            onSelect={setSelected}
          />
        </PagesContext>
      )}
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
      {id !== undefined && /^[1-9]\d{0,14}$/.test(id) ? (
        <StockHistory
          cheeseId={Number(id)}
          name={rows.find(({ cheeseId }) => String(cheeseId) === id)?.cheeseName}
          onClose={() => navigate(back)}
        />
      ) : null}
    </>
  );
}

/** The URL of the list, or of one cheese beside it. */
function hrefOf(path: string, { isLowOnly, q }: StockView): string {
  const params = new URLSearchParams({ ...(q === '' ? {} : { q }), ...(isLowOnly ? { low: 'true' } : {}) });
  return params.size === 0 ? path : `${path}?${params}`;
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
