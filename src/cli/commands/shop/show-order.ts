import type { XStatic } from 'typebox/schema';
import { quantityText } from '../../../cheeses/portions.ts';
import { totalCents } from '../../../orders/pricing/lines.ts';
import type { Order, Timeline } from '../../../orders/schemas.ts';
import { showMoney, showPrice } from '../../../schema/money-text.ts';
import type { CommandOptions } from '../../framework/options.ts';
import { formatItems, printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';
import { callOperation } from '../../operations/call-operation.ts';
import { shownOrderColumns } from '../../operations/shop-operations.ts';

/** Prints an order with its timeline. */
export function showOrder(orderId: number, options: CommandOptions): Promise<void> {
  return withShop(options, async (shop) => {
    const order: Order = await callOperation(shop, 'getOrder', { orderId });
    const { items: timeline }: XStatic<typeof Timeline> = await callOperation(shop, 'getOrderTimeline', {
      orderId,
    });
    const style = { currency: shop.site().currency };
    const lines = order.items.map(
      (line) => `${quantityText(line)} ${line.cheeseName}: ${showMoney(totalCents([line]), style)}`,
    );
    const amount = (price: number) => showPrice(price, style);
    const { subtotal, discount, delivery, tax } = order.breakdown ?? {};
    const breakdown = [
      subtotal !== undefined && `subtotal: ${amount(subtotal)}`,
      discount && `discount ${discount.code}: -${amount(discount.amount)}`,
      delivery && `${delivery.name}: ${amount(delivery.amount)}`,
      ...(tax?.rates ?? []).map(
        (rate) =>
          `${rate.name} ${rate.percent} %${tax?.included ? ' (included)' : ''}: ${amount(rate.amount)}`,
      ),
    ].filter((line) => typeof line === 'string');
    const { requestedDate, arrivesOn, gift } = order;
    const wishes = [
      requestedDate && `requested to leave on ${requestedDate}`,
      arrivesOn && `arrives on ${arrivesOn}`,
      gift && `gift${gift.hidePrices ? ', without prices' : ''}${gift.message ? `: ${gift.message}` : ''}`,
    ].filter((line) => typeof line === 'string');
    const { name, company, street, street2, zipCode, city, state, country, phone } = order.shippingAddress;
    const address = [
      name,
      company,
      street,
      street2,
      [zipCode, city].filter(Boolean).join(' '),
      state,
      country,
      phone,
    ].filter(Boolean);
    const notes = order.notes === null ? [] : [`notes: ${order.notes}`];
    const steps = timeline.map(({ at, status, by, reason, shipment }) =>
      [at, status, by, reason, shipment?.carrier, shipment?.trackingNumber, shipment?.trackingUrl]
        .filter((part) => part !== null && part !== undefined)
        .join('  '),
    );
    const text = [
      formatItems(shownOrderColumns, [order], style),
      ...lines,
      ...breakdown,
      `to ${address.join(', ')}`,
      ...wishes,
      ...notes,
      ...steps,
    ];
    printResult(options, { order, timeline }, text.join('\n'));
  });
}
