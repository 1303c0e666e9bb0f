/** What is entered about the shipment of an order that is not shipped: every way to ship the order sends it. */
import { keepDraft, readDraft } from '../../../session/drafts.ts';

export interface ShipmentFields {
  readonly carrier: string;
  readonly number: string;
  readonly url: string;
}

const keyOf = (id: number) => `shipment ${id}`;

export const readShipment = (id: number) => readDraft<ShipmentFields>(keyOf(id));

/** @param fields null deletes them */
export const keepShipment = (id: number, fields: ShipmentFields | null): void => keepDraft(keyOf(id), fields);

export const isEmptyShipment = (fields: ShipmentFields): boolean =>
  Object.values(fields).every((text) => text.trim() === '');

/** The body of a request with the shipment. */
export const toShipment = ({ carrier, number, url }: ShipmentFields) => ({
  carrier: carrier.trim() || null,
  trackingNumber: number.trim() || null,
  trackingUrl: url.trim() || null,
});

/**
 * Why the server would refuse the shipment of an order, by its rule of tracking pages. Its own response comes ten seconds
 * later, when the operator may have left the page.
 */
export function shipmentProblem(id: number): string | null {
  const url = readShipment(id)?.url.trim() ?? '';
  return url === '' || (/^https:\/\/[^\s/@]+(?:\/|\?|$)/i.test(url) && URL.canParse(url))
    ? null
    : 'The tracking page must be an https URL such as https://carrier.example/track/CH42.';
}
