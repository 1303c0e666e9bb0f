import type { Order } from '../../../orders/schemas.ts';
import type { CommandOptions, OptionsOf } from '../../framework/options.ts';
import { type Columns, formatTable, printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';
import type { listOrdersOptions } from '../../framework/shop-options.ts';

/** How many rows a list prints. */
const listedMax = 100;

const columns: Columns<Order> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  total: ({ total }) => total.toFixed(2),
  created: ({ createdAt }) => createdAt,
  ships: ({ shipDate }) => shipDate,
};

/** Prints the newest orders, at most 100. */
export function listOrders(options: OptionsOf<typeof listOrdersOptions>): Promise<void> {
  return withShop(options, async ({ orders, customers }) => {
    const customerId =
      options.customer === undefined ? undefined : await customers.administration.idOf(options.customer);
    const statuses = options.status === undefined ? undefined : [options.status];
    const page = await orders.reader.list(null, {
      statuses,
      customerId,
      country: options.country,
      cheeseId: options.cheese,
      late: options.late || undefined,
      needsApproval: options.needsApproval || undefined,
      limit: listedMax,
    });
    const items = JSON.parse(`[${page.items}]`) as Order[];
    const more = page.hasMore ? `\nThese are the newest of ${page.total}.` : '';
    printResult(
      options,
      { items, total: page.total, hasMore: page.hasMore },
      formatTable(columns, items, 'There are no such orders.') + more,
    );
  });
}

export function showOrder(id: number, options: CommandOptions): Promise<void> {
  return withShop(options, async ({ orders: { service, reader } }) => {
    const order = JSON.parse((await service.find(id, null)).body) as Order;
    const timeline = await reader.timeline(id, null);
    const lines = order.items.map(({ cheeseName, quantity }) => `${quantity} kg ${cheeseName}`);
    const { street, zipCode, city, state, country } = order.shippingAddress;
    const address = [street, [zipCode, city].filter(Boolean).join(' '), state, country].filter(Boolean);
    const notes = order.notes === null ? [] : [`notes: ${order.notes}`];
    const steps = timeline.map(({ at, status, by, reason, shipment }) =>
      [at, status, by, reason, shipment?.carrier, shipment?.trackingNumber, shipment?.trackingUrl]
        .filter((part) => part !== null && part !== undefined)
        .join('  '),
    );
    printResult(
      options,
      { order, timeline },
      [formatTable(columns, [order]), ...lines, `to ${address.join(', ')}`, ...notes, ...steps].join('\n'),
    );
  });
}
