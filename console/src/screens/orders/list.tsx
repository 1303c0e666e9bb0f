/** All orders as a list: tabs, filters in the URL, bulk actions and a CSV file. */
import { Group, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Curd, Order } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { ListTable } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import { useSelectAll } from '../../parts/select-all.ts';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { ColumnsButton } from '../../parts/tables/columns-button.tsx';
import type { CsvColumns } from '../../parts/tables/csv.ts';
import { CsvButton } from '../../parts/tables/csv-button.tsx';
import { usePages } from '../../parts/tables/pages.ts';
import { useSelection } from '../../parts/tables/place.ts';
import { SavedViews } from '../../parts/tables/saved-views.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { countryName } from '../../parts/text/countries.ts';
import { showMoney, showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { asOneOf, useUrlFilters, useUrlValue } from '../../parts/url-filters.ts';
import { filterReaders, OrderFilters, OrderSort, type UrlFilters } from './filters.tsx';
import { describeExtras, linesOf, lineText, weightOf } from './lines.ts';
import { useMoves } from './moved-orders.ts';
import { CustomerName, StatusBadge, Warnings } from './order-fields.tsx';
import { SelectionBar } from './selection.tsx';
import { keptOrders } from './shipping/read-orders.ts';
import { type Requested, TransitionDialog } from './transition-dialogs.tsx';
import { applicable, sayNotApplicable, transitions } from './transitions.ts';

type Query = NonNullable<Parameters<Curd['orders']['list']>[0]>;

/** The beginning of a day in the zone of the browser. */
function dayOf(text: string | undefined, plusDays = 0): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return undefined;
  }
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number);
  const date = new Date(year, month - 1, day + plusDays);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** What a URL asks the API for. The other tabs name their status themselves. */
function toQuery(
  { from, to, status, sort, customer, cheese, ...filters }: UrlFilters,
  tab: Tab | undefined,
): Query {
  return {
    ...(tab === undefined ? { status } : { [tab]: true }),
    ...filters,
    customerId: customer,
    cheeseId: cheese,
    createdFrom: dayOf(from),
    createdBefore: dayOf(to, 1),
    sort: sort ?? '-createdAt',
  };
}

const tabs = ['shipsToday', 'late', 'needsApproval'] as const;
type Tab = (typeof tabs)[number];

const label = 'Orders';

const columns: readonly Column<Order>[] = [
  {
    title: 'Order',
    show: ({ id }) => (
      <Link href={`/orders/${id}`} className="order-id">
        {id}
      </Link>
    ),
  },
  {
    title: 'Status',
    show: (order) => (
      <Group gap={6} wrap="nowrap">
        <StatusBadge order={order} />
        <Warnings order={order} isShort />
      </Group>
    ),
  },
  { title: 'Placed', show: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Customer', show: ({ id }) => <CustomerName id={id} /> },
  { title: 'Cheeses', show: (order) => linesOf(order) },
  {
    title: 'To',
    show: ({ shippingAddress: { city, country } }) => (
      <span className="place">
        {city}, {countryName(country)}
      </span>
    ),
  },
  { title: 'Delivery', show: describeExtras },
  { title: 'Total', isNumber: true, show: ({ total }) => showMoney(total) },
];

/** Columns of a shop that arranges deliveries itself. */
const columnsWithoutDelivery = columns.filter(({ show }) => show !== describeExtras);

const csvColumns: CsvColumns<Order> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  shipDate: ({ shipDate }) => shipDate,
  cheeses: ({ items }) => items.map(lineText).join('; '),
  kilograms: weightOf,
  total: ({ total }) => total,
  recipient: ({ shippingAddress }) => shippingAddress.name,
  company: ({ shippingAddress }) => shippingAddress.company,
  street: ({ shippingAddress }) => shippingAddress.street,
  street2: ({ shippingAddress }) => shippingAddress.street2,
  zipCode: ({ shippingAddress }) => shippingAddress.zipCode,
  city: ({ shippingAddress }) => shippingAddress.city,
  state: ({ shippingAddress }) => shippingAddress.state,
  country: ({ shippingAddress }) => shippingAddress.country,
  phone: ({ shippingAddress }) => shippingAddress.phone,
  discountCode: ({ breakdown }) => breakdown?.discount?.code,
  discount: ({ breakdown }) => breakdown?.discount?.amount,
  deliveryMethod: ({ breakdown }) => breakdown?.delivery?.name,
  delivery: ({ breakdown }) => breakdown?.delivery?.amount,
  tax: ({ breakdown }) => breakdown?.tax?.amount,
  requestedDate: ({ requestedDate }) => requestedDate,
  arrivesOn: ({ arrivesOn }) => arrivesOn,
  giftMessage: ({ gift }) => gift?.message,
  notes: ({ notes }) => notes,
};

export function OrderList() {
  const curd = useCurd();
  const [tab, setTab] = useUrlValue('tab', asOneOf(tabs));
  const { filters: urlFilters, change } = useUrlFilters(filterReaders);
  const [, navigate] = useLocation();
  const [selected, setSelected] = useSelection<number | string>();
  const [requested, setRequested] = useState<Requested | null>(null);
  const filters = toQuery(urlFilters, tab);
  const { latest } = useMoves();
  const list = usePages({
    key: ['orders', 'list', filters],
    read: ({ cursor, limit, signal }) => curd.orders.list({ ...filters, limit, cursor }, { signal }),
    idOf: ({ id }) => id,
  });
  const orders = list.rows.map(latest);
  const shown = orders.some((order) => describeExtras(order) !== '') ? columns : columnsWithoutDelivery;
  const { all, restOf, selectAll } = useSelectAll(list, filters, setSelected, (max) =>
    curd.orders.list({ ...filters, limit: 100 }).take(max),
  );
  // Those that were not read again after a visit of the packing slips come with it.
  const kept = keptOrders([...selected].map(Number));
  const known = [...new Map([...kept, ...all, ...list.rows].map((order) => [order.id, order])).values()];
  const chosen = known.map(latest).filter(({ id }) => selected.has(id));
  useShortcuts({
    v: () => navigate('/orders'),
    ...Object.fromEntries(
      transitions.map((transition) => [
        transition.key,
        () => {
          const fitting = applicable(transition, chosen);
          if (fitting.length > 0) {
            setRequested({ transition, orders: fitting });
          } else if (chosen.length > 0) {
            sayNotApplicable(transition, chosen);
          }
        },
      ]),
    ),
  });

  const isFiltered = Object.entries(filters).some(([name, value]) => name !== 'sort' && value !== undefined);
  return (
    <>
      <Tabs
        value={tab ?? 'all'}
        keepMounted={false}
        onChange={(next) => {
          setSelected(new Set());
          setTab(next === 'all' ? null : next);
        }}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="all">All</Tabs.Tab>
          <Tabs.Tab value="shipsToday">To ship today</Tabs.Tab>
          <Tabs.Tab value="late">Late</Tabs.Tab>
          <Tabs.Tab value="needsApproval">Needs approval</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value={tab ?? 'all'}>
          <OrderFilters filters={urlFilters} onChange={change} isStatusOpen={tab === undefined} />
          <Group justify="space-between" mb="xs" gap="xs">
            <Text size="sm" c="dimmed" role="status">
              {list.total === undefined ? '' : `${showNumber(list.total)} orders`}
            </Text>
            <Group gap="xs">
              <OrderSort filters={urlFilters} onChange={change} />
              <SavedViews list={label} />
              <ColumnsButton list={label} columns={shown} />
              <CsvButton
                name="orders"
                columns={csvColumns}
                read={(max) => curd.orders.list({ ...filters, limit: 100 }).take(max)}
                remedy="Filter by time for the others."
              />
            </Group>
          </Group>
          <SelectionBar
            orders={chosen}
            onRequest={setRequested}
            onClear={() => setSelected(new Set())}
            rest={restOf(chosen.length)}
          />
          <ListTable
            list={list}
            label={label}
            what="the orders"
            columns={shown}
            rows={orders}
            keyOf={({ id }) => id}
            nameOf={({ id }) => `order ${id}`}
            onOpen={({ id }) => navigate(`/orders/${id}`)}
            selected={selected}
            onSelect={setSelected}
            onSelectAll={() => void selectAll()}
            empty={
              <Empty title={isFiltered ? 'No orders match' : 'No orders yet'}>
                {tab === 'shipsToday'
                  ? 'Approved orders appear here on the day on which they leave the shop, and until they are shipped.'
                  : tab === 'late'
                    ? 'Approved orders appear here when the day on which they should be shipped is over.'
                    : tab === 'needsApproval'
                      ? 'Orders are approved by themselves. Those of cheeses without a price wait here until you approve them.'
                      : isFiltered
                        ? 'Change or clear the filters.'
                        : 'Orders that customers and API keys place appear here by themselves.'}
              </Empty>
            }
          />
        </Tabs.Panel>
      </Tabs>
      {requested === null ? null : (
        <TransitionDialog
          {...requested}
          onClose={(isDone) => {
            setRequested(null);
            if (isDone) {
              setSelected(new Set());
            }
          }}
        />
      )}
    </>
  );
}
