/** Reads what a mail says, when it is sent or shown: from the order and the customer of that moment. */
import type { ClientService } from '../../auth/oauth/clients.ts';
import { quantityText } from '../../cheeses/portions.ts';
import type { Clock } from '../../clock.ts';
import type { CustomerContact } from '../../customers/customer-finder.ts';
import type { Database } from '../../database/database.ts';
import { gramsToKilograms } from '../../decimal.ts';
import { type DeliverySchedule, expectedDays, localTime } from '../../delivery/ship-days.ts';
import { readEvents } from '../../event-log/reading/log-reader.ts';
import type { Site } from '../../http/area.ts';
import type { OrderReader } from '../../orders/lists/order-reader.ts';
import { readOrderOfCustomer } from '../../orders/order.ts';
import { totalCents } from '../../orders/pricing/lines.ts';
import type { Breakdown } from '../../orders/pricing/schemas.ts';
import type { Order } from '../../orders/schemas.ts';
import type { Shipment } from '../../orders/shipments/schemas.ts';
import type { Shipments } from '../../orders/shipments/shipments.ts';
import { showMoney, showPrice } from '../../schema/money-text.ts';
import type { Config, MailName } from '../../settings/config.ts';
import type { ShopProfile } from '../../shop/profile.ts';
import { lineGrams } from '../../stock/line-weight.ts';
import type { MailRow } from '../queries.ts';
import type { MailVariables } from './variables.ts';

export interface ContentDependencies {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly config: Pick<Config, 'orderUrl' | 'shippingTimeMs'>;
  readonly profile: Pick<ShopProfile, 'current'>;
  readonly site: () => Site;
  readonly orderReader: Pick<OrderReader, 'timeline'>;
  readonly shipments: Pick<Shipments, 'find'>;
  readonly clients: Pick<ClientService, 'listNames'>;
  /** The origin of the public URL. */
  readonly issuer: () => string;
}

/** What a mail is about. */
export type MailSubject = Pick<MailRow, 'name' | 'order_id' | 'sequence' | 'created_at'>;

/** @returns the variables of a mail; null if the order or the event is not there any more */
export type ReadVariables = (
  mail: MailSubject,
  contact: CustomerContact,
  resetLink: string,
) => Promise<MailVariables[MailName] | null>;

const resetMinutes = '30';

export function createContentReader(dependencies: ContentDependencies): ReadVariables {
  const { database, clock, config, profile, site, orderReader, shipments, clients, issuer } = dependencies;

  async function orderOf(id: number, contact: CustomerContact) {
    const found = await readOrderOfCustomer(database, contact.id, id);
    if (found === undefined) {
      return null;
    }
    const { order, schedule } = found;
    const isPickup = order.breakdown?.delivery?.kind === 'pickup';
    const timeline = order.status === 'cancelled' ? await orderReader.timeline(id, null) : [];
    const reason = timeline.findLast(({ status }) => status === 'cancelled')?.reason ?? null;
    return {
      ...orderVariables(order, reason, config.orderUrl, site()),
      isPickup,
      delivery: schedule && daysOf(order, schedule),
      pickupAddress: isPickup ? profile.current.address : null,
      shippingAddress: addressVariables(order.shippingAddress, customerVariables(contact).name),
    };
  }

  function daysOf({ status, items, shipDate, arrivesOn }: Order, schedule: DeliverySchedule) {
    if (status === 'cancelled' || (shipDate === null && items.some(({ pricePerKg }) => pricePerKg === 0))) {
      // Nothing leaves, or only after an operator has approved it.
      return { leavesOn: null, arrivesOn: null };
    }
    const days =
      shipDate === null
        ? expectedDays(clock.now(), schedule, config.shippingTimeMs)
        : { shipsOn: localTime(Date.parse(shipDate), schedule.timeZone).day, arrivesOn: arrivesOn ?? null };
    const show = (day: string | null) => day && showDay(day, site().language);
    return { leavesOn: show(days.shipsOn), arrivesOn: show(days.arrivesOn) };
  }

  /** null if nothing was stated. */
  async function shipmentOf(id: number) {
    const { carrier, trackingNumber, trackingUrl } = JSON.parse(
      (await shipments.find(id, null)).body,
    ) as Shipment;
    const isStated = carrier !== null || trackingNumber !== null || trackingUrl !== null;
    return isStated ? { carrier, trackingNumber, trackingUrl } : null;
  }

  async function credentialOf(sequence: number) {
    const event = (await readEvents(database, [sequence])).get(sequence);
    if (event === undefined) {
      return null;
    }
    const { id, name } = JSON.parse(event.data) as { readonly id: number | string; readonly name?: string };
    const isClient = event.type === 'oauth_client.created';
    const [client] = isClient ? await clients.listNames([String(id)]) : [];
    return {
      isClient,
      isApiKey: !isClient,
      name: client?.name ?? name ?? String(id),
      createdOn: dayOf(event.created_at),
      createdBy: event.actor,
    };
  }

  return async ({ name, order_id, sequence, created_at }, contact, resetLink) => {
    const common = { shopName: site().name, customer: customerVariables(contact) };
    const changedOn = dayOf(created_at);
    switch (name) {
      case 'password-reset':
        return { ...common, link: resetLink, minutes: resetMinutes };
      case 'password-changed':
        return { ...common, changedOn, forgotPasswordUrl: `${issuer()}/oauth/forgot-password` };
      case 'email-changed':
        return { ...common, changedOn };
      case 'key-created': {
        const credential = sequence === null ? null : await credentialOf(sequence);
        return credential === null ? null : { ...common, credential };
      }
      default: {
        const order = order_id === null ? null : await orderOf(order_id, contact);
        if (order === null || order_id === null || name !== 'order-shipped') {
          return order === null ? null : { ...common, order };
        }
        return { ...common, order, shipment: await shipmentOf(order_id) };
      }
    }
  };
}

function customerVariables({ username, firstName, lastName }: CustomerContact) {
  const name = [firstName, lastName].filter((part) => part !== '').join(' ');
  return { name: name === '' ? username : name, firstName, lastName, username };
}

function orderVariables(order: Order, reason: string | null, orderUrl: string | null, shop: Site) {
  return {
    number: String(order.id),
    placedOn: dayOf(order.createdAt),
    lines: order.items.map((line) => ({
      name: line.cheeseName,
      unit: line.grams === undefined ? null : quantityText(line),
      unitPrice: line.unitPrice === undefined ? null : showPrice(line.unitPrice, shop),
      kilograms: String(gramsToKilograms(lineGrams(line))),
      pricePerKg: showPrice(line.pricePerKg, shop),
      amount: showMoney(totalCents([line]), shop),
    })),
    breakdown: order.breakdown === undefined ? null : breakdownVariables(order.breakdown, shop),
    total: showPrice(order.total, shop),
    shipDate: order.shipDate === null ? null : dayOf(order.shipDate),
    reason,
    url: orderUrl === null ? null : orderUrl.replaceAll('{id}', String(order.id)),
  };
}

function breakdownVariables({ subtotal, discount, delivery, tax }: Breakdown, shop: Site) {
  const show = (amount: number) => showPrice(amount, shop);
  return {
    subtotal: show(subtotal),
    discount: discount === undefined ? null : { code: discount.code, amount: show(discount.amount) },
    delivery: delivery === undefined ? null : { name: delivery.name, amount: show(delivery.amount) },
    taxes: (tax?.rates ?? []).map(({ name, percent, amount }) => ({
      name,
      percent: String(percent),
      amount: show(amount),
      isIncluded: tax?.included === true,
    })),
  };
}

/** The recipient is the customer if the order names none. */
function addressVariables(address: Order['shippingAddress'], customerName: string) {
  const { name = customerName, company = null, street, street2 = null, city, state, country } = address;
  const zipCode = address.zipCode || null;
  return { name, company, street, street2, zipCode, city, state, country };
}

/** Such as "Wednesday, June 3". */
const showDay = (day: string, language: string) =>
  new Intl.DateTimeFormat(language, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  }).format(Date.parse(day));

const dayOf = (time: string) => time.slice(0, 10);
