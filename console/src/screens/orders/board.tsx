/** The board: a column for each status. Keys move in it and make the transitions. */
import { Anchor, Group, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Order } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { Empty, Problem } from '../../parts/page.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { useSelection } from '../../parts/tables/place.ts';
import { showNumber } from '../../parts/text/format.ts';
import { asOneOf, useUrlValue } from '../../parts/url-filters.ts';
import { Card, type CardActions } from './card.tsx';
import { useMoves } from './moved-orders.ts';
import { usePosition } from './position.ts';
import { SelectionBar } from './selection.tsx';
import { useOrderTotal } from './totals.ts';
import { type Requested, TransitionDialog } from './transition-dialogs.tsx';
import {
  applicable,
  cancel,
  columnKey,
  isOver,
  type Status,
  sayNotApplicable,
  statuses,
  type Transition,
  transitions,
  useTransition,
} from './transitions.ts';

const cardsMax = 50;

const emptyTexts: Readonly<Record<Status, string>> = {
  placed: 'New orders appear here. They are approved by themselves, except those of cheeses without a price.',
  approved: 'Orders that are approved, to be shipped.',
  shipped: 'Orders on their way.',
  delivered: 'Orders that arrived.',
  cancelled: 'Orders that were cancelled.',
};

function useColumns() {
  const curd = useCurd();
  const queries = useQueries({
    queries: statuses.map((status) => ({
      queryKey: columnKey(status),
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
        await curd.orders.list(
          { status: [status], sort: isOver(status) ? '-createdAt' : 'createdAt', limit: cardsMax },
          { signal },
        ),
    })),
  });
  const { columnOf } = useMoves();
  return statuses.map((status, index) => {
    const query = queries[index];
    const data = query?.data;
    const column = data === undefined ? undefined : columnOf(status, data, query?.dataUpdatedAt ?? 0);
    const byId = (one: Order, other: Order) => (isOver(status) ? other.id - one.id : one.id - other.id);
    return {
      status,
      total: column?.total,
      items: column?.items.toSorted(byId).slice(0, cardsMax),
      hasMore: data?.hasMore === true,
      error: query?.error ?? null,
      refetch: () => query?.refetch(),
    };
  });
}

/**
 * The first column in which something is to be done, for phones, which show one column. It stays when the last of its
 * orders moves on: the person is still there.
 */
function useFirstWork(columns: ReturnType<typeof useColumns>): Status {
  const [known, setKnown] = useState<Status | null>(null);
  const open = columns.filter(({ status }) => !isOver(status));
  const isRead = open.every(({ total }) => total !== undefined);
  const first = open.find(({ total = 0 }) => total > 0)?.status ?? 'placed';
  if (known === null && isRead) {
    setKnown(first);
  }
  return known ?? first;
}

export function Board() {
  const columns = useColumns();
  const [selected, setSelected] = useSelection<number>();
  const [requested, setRequested] = useState<Requested | null>(null);
  const first = useFirstWork(columns);
  const [column, setColumn] = useUrlValue('column', asOneOf(statuses), 'replace');
  const [, navigate] = useLocation();
  const isPhone = useMediaQuery('(max-width: 48em)') ?? false;
  const make = useTransition();

  const { current, select, moveRow, moveColumn } = usePosition(columns.map(({ items }) => items ?? []));
  const chosen = columns.flatMap(({ items = [] }) => items).filter(({ id }) => selected.has(id));

  const toggle = (id: number) => {
    const next = new Set(selected);
    if (!next.delete(id)) {
      next.add(id);
    }
    setSelected(next);
  };
  const request = (transition: Transition, order: Order | undefined) => {
    const wanted = chosen.length > 0 ? chosen : order === undefined ? [] : [order];
    const fitting = applicable(transition, wanted);
    if (fitting.length === 0) {
      if (wanted.length > 0) {
        sayNotApplicable(transition, wanted);
      }
    } else if (order !== undefined && chosen.length === 0 && transition !== cancel) {
      void make(transition, order);
      if (transition.isFinal) {
        // The card stays until the server confirms it.
        moveRow(1);
      }
    } else {
      setRequested({ transition, orders: fitting });
    }
  };
  const offered =
    current === undefined ? [] : transitions.filter(({ from }) => from.includes(current.status));

  const actions = useRef<CardActions>(null as never);
  actions.current = {
    select: ({ id }) => {
      const rows = columns.map(({ items = [] }) => items.findIndex((one) => one.id === id));
      const column = rows.findIndex((row) => row >= 0);
      select(column, rows[column] ?? 0);
    },
    toggle: ({ id }) => toggle(id),
    request: (transition, order) =>
      transition === cancel ? setRequested({ transition, orders: [order] }) : void make(transition, order),
  };

  useShortcuts({
    j: () => moveRow(1),
    k: () => moveRow(-1),
    v: () => navigate(`/orders?view=list&status=${current?.status ?? first}`),
    A: () => {
      const column = columns.find(({ status }) => status === (current?.status ?? first))?.items ?? [];
      const isAll = column.length > 0 && column.every(({ id }) => selected.has(id));
      setSelected(new Set(isAll ? [] : column.map(({ id }) => id)));
    },
    ArrowRight: () => moveColumn(1),
    ArrowLeft: () => moveColumn(-1),
    ...Object.fromEntries(
      transitions.map((transition) => [transition.key, () => request(transition, current)]),
    ),
    ...(current === undefined
      ? {}
      : { Enter: () => navigate(`/orders/${current.id}`), ' ': () => toggle(current.id) }),
  });

  const open = column ?? first;
  return (
    <>
      <Group justify="space-between" mb="sm" gap="xs">
        <Attention />
        <Text size="xs" c="dimmed" visibleFrom="sm">
          {offered.map(({ key, verb }) => `${key} ${verb.toLowerCase()}, `).join('')}j, k and arrows move, A
          selects the column
        </Text>
      </Group>
      <SelectionBar orders={chosen} onRequest={setRequested} onClear={() => setSelected(new Set())} />
      {isPhone ? (
        <div className="board-tabs">
          <SegmentedControl
            size="xs"
            aria-label="Status"
            value={open}
            data={columns.map(({ status, total }) => ({
              value: status,
              label: `${status} ${total ?? ''}`,
            }))}
            onChange={setColumn}
          />
        </div>
      ) : null}
      <div className="board">
        {columns.map(({ status, total, items, hasMore, error, refetch }) =>
          isPhone && status !== open ? null : (
            <section key={status} aria-label={status} className="board-column">
              <Group gap={6} className="board-title">
                <Text component="h2" size="sm" fw={600} m={0}>
                  {status}
                </Text>
                <Text size="sm" c="dimmed" className="figure" role="status" aria-label={`${status} orders`}>
                  {total === undefined ? '' : showNumber(total)}
                </Text>
              </Group>
              {error !== null && items === undefined ? <Problem error={error} retry={refetch} /> : null}
              {items === undefined && error === null ? <Skeleton height={84} /> : null}
              {items?.length === 0 ? <Empty title={`No ${status} orders`}>{emptyTexts[status]}</Empty> : null}
              {items === undefined || items.length === 0 ? null : (
                <ul className="cards">
                  {items.map((order) => (
                    <Card
                      key={order.id}
                      order={order}
                      isCurrent={current?.id === order.id}
                      isSelected={selected.has(order.id)}
                      actions={actions}
                    />
                  ))}
                </ul>
              )}
              {hasMore ? (
                <Anchor component={Link} size="sm" href={`/orders?view=list&status=${status}`}>
                  All in the list
                </Anchor>
              ) : null}
            </section>
          ),
        )}
      </div>
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

/** How many orders are late or wait for an operator, as links to them. */
function Attention() {
  const late = useOrderTotal('late');
  const waiting = useOrderTotal('needsApproval');
  return (
    <Group gap="md">
      <Anchor component={Link} size="sm" href="/orders?view=list&tab=late">
        Late {late ?? ''}
      </Anchor>
      <Anchor component={Link} size="sm" href="/orders?view=list&tab=needsApproval">
        Needs approval {waiting ?? ''}
      </Anchor>
    </Group>
  );
}
