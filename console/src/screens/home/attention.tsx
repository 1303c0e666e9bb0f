/** What an operator should look at, each with a link to it. */
import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Curd } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { showKilograms } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { useOrderTotal } from '../orders/totals.ts';
import { isSoldOut, readSales, type Sales, showSupply } from '../stock/supply.ts';

interface Item {
  readonly key: string;
  readonly text: ReactNode;
  readonly href: string;
}

/** Low stocks and webhooks that are named. */
const namedMax = 5;

/** No event tells of a delivery or a mail that failed. */
const unseenMs = 60_000;

const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

/** A part that cannot be read is left out: the others are still true. */
function useItems(
  key: readonly string[],
  read: (curd: Curd, signal: AbortSignal) => Promise<Item[]>,
  everyMs: number | false = false,
) {
  const { data, isPending } = useApi(key, read, everyMs);
  return { items: data ?? [], isPending };
}

function useOrders(): Item[] {
  const unpriced = useOrderTotal('needsApproval') ?? 0;
  const late = useOrderTotal('late') ?? 0;
  const items = [
    {
      key: 'unpriced',
      total: unpriced,
      text: `${plural(unpriced, 'order without a price waits', 'orders without a price wait')} for approval`,
      href: '/orders?view=list&tab=needsApproval',
    },
    {
      key: 'late',
      total: late,
      text: `${plural(late, 'order is', 'orders are')} late`,
      href: '/orders?view=list&tab=late',
    },
  ];
  return items.filter(({ total }) => total > 0);
}

/** ", 2 days of supply"; '' if nothing can be said. */
function describeSupply(available: number, cheeseId: number, sales: Sales | null): string {
  const supply = showSupply(available, cheeseId, sales);
  return supply === '-' ? '' : `, ${/^\d/.test(supply) ? `${supply} of supply` : supply}`;
}

async function readStock(curd: Curd): Promise<Item[]> {
  const { items, total } = await curd.stock.list({ low: true, sort: 'level', limit: namedMax });
  const sales = await readSales(
    curd,
    items.map(({ cheeseId }) => cheeseId),
  ).catch(() => null);
  const named = items.map(({ cheeseId, cheeseName, available }) => ({
    key: `stock ${cheeseId}`,
    text: isSoldOut({ available })
      ? `${cheeseName} is sold out${available < 0 ? `: ${showKilograms(-available)} are missing` : ''}`
      : `${cheeseName} is low: ${showKilograms(available)}${describeSupply(available, cheeseId, sales)}`,
    href: `/stock/${cheeseId}`,
  }));
  return total > items.length
    ? [
        ...named,
        {
          key: 'stock',
          text: `${total - items.length} more are sold out or low`,
          href: '/stock?low=true',
        },
      ]
    : named;
}

async function readApprovals(curd: Curd): Promise<Item[]> {
  const { items } = await curd.approvals.list({ status: 'pending' });
  return items.length === 0
    ? []
    : [
        {
          key: 'approvals',
          text: `${plural(items.length, 'request waits', 'requests wait')} for approval`,
          href: '/approvals',
        },
      ];
}

async function readWebhooks(curd: Curd): Promise<Item[]> {
  const { items } = await curd.webhookEndpoints.list();
  return items
    .filter(({ status, disabledReason, failingSince }) =>
      status === 'disabled' ? disabledReason !== 'on_request' : failingSince !== null,
    )
    .slice(0, namedMax)
    .map(({ id, url, status, failingSince }) => ({
      key: `webhook ${id}`,
      text: (
        <>
          Webhook {new URL(url).host}{' '}
          {status === 'disabled' || failingSince === null ? (
            'is disabled'
          ) : (
            <>
              has failed since <Time at={failingSince} />
            </>
          )}
        </>
      ),
      href: `/webhooks/${id}`,
    }));
}

/** The latest failed deliveries of an endpoint that are looked at. */
const failedMax = 10;

/**
 * Events that an endpoint never got: the latest delivery of each was given up, also if later events arrive. One endpoint
 * after the other, until enough are found: all accounts together may have thousands.
 */
async function readGivenUp(curd: Curd, signal: AbortSignal): Promise<Item[]> {
  const { items } = await curd.webhookEndpoints.list({}, { signal });
  const found: Item[] = [];
  for (const { id, url } of items) {
    const failed = await curd.webhookDeliveries.list(id, { status: 'failed', limit: failedMax }, { signal });
    const latest = await Promise.all(
      [...new Set(failed.items.map(({ eventId }) => eventId))].map((eventId) =>
        curd.webhookDeliveries.list(id, { eventId, limit: 1 }, { signal }),
      ),
    );
    const count = latest.filter((page) => page.items[0]?.status === 'failed').length;
    if (count > 0) {
      found.push({
        key: `given up ${id}`,
        text: `${failed.hasMore ? 'At least ' : ''}${plural(count, 'delivery', 'deliveries')} to ${new URL(url).host} failed and ${count === 1 ? 'was' : 'were'} given up`,
        href: `/webhooks/${id}?status=failed`,
      });
    }
    if (found.length === namedMax) {
      break;
    }
  }
  return found;
}

/** Waiting mails that are looked at: the newest. */
const waitingMax = 100;

/** Mails that failed, also in their last attempt, and why none are sent. */
async function readMails(curd: Curd, signal: AbortSignal): Promise<Item[]> {
  const { failed, fault, paused, waiting } = (await curd.status.get({ signal })).mail;
  const { items: listed } =
    waiting === 0 || fault !== null || paused
      ? { items: [] }
      : await curd.mails.list({ state: 'waiting', limit: waitingMax }, { signal });
  const retried = listed.filter(({ reason }) => reason !== null);
  const items = [
    {
      key: 'mail fault',
      isShown: fault !== null,
      text: `No mail can be sent: ${fault}`,
      href: '/mail?state=waiting',
    },
    {
      key: 'mails paused',
      isShown: paused,
      text: 'Mails wait, because the shop was copied or restored',
      href: '/mail?state=waiting',
    },
    {
      key: 'retried mails',
      isShown: retried.length > 0,
      text: `${plural(retried.length, 'mail waits', 'mails wait')} for another attempt: ${retried[0]?.reason}`,
      href: '/mail?state=waiting',
    },
    {
      key: 'failed mails',
      isShown: failed > 0,
      text: `${plural(failed, 'mail', 'mails')} could not be sent`,
      href: '/mail?state=failed',
    },
  ];
  return items.filter(({ isShown }) => isShown);
}

export function Attention() {
  const parts = [
    { items: useOrders(), isPending: false },
    useItems(['stock', 'attention'], readStock),
    useItems(['approvals', 'attention'], readApprovals),
    useItems(['webhooks', 'attention'], readWebhooks, unseenMs),
    useItems(['webhooks', 'given up'], readGivenUp, unseenMs),
    useItems(['mail', 'attention'], readMails, unseenMs),
  ];
  const items = parts.flatMap((part) => part.items);
  return (
    <section className="card" aria-label="Needs attention">
      <Text fw={600} mb="xs">
        Needs attention
      </Text>
      {items.length > 0 ? (
        <ul className="attention">
          {items.map(({ key, text, href }) => (
            <li key={key}>
              <Anchor component={Link} href={href} size="sm" underline="always">
                {text}
              </Anchor>
            </li>
          ))}
        </ul>
      ) : (
        <Text size="sm" c="dimmed">
          {parts.some(({ isPending }) => isPending) ? 'Loading' : 'Nothing.'}
        </Text>
      )}
    </section>
  );
}
