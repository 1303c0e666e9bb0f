/** The types of events that can be chosen. The compiler compares them with those of the API. */
import type { CurdEvent } from '../../../../client/src/index.ts';

const known: Readonly<Record<CurdEvent['type'], true>> = {
  'cheese.created': true,
  'cheese.updated': true,
  'cheese.deleted': true,
  'cheese.image_uploaded': true,
  'order.placed': true,
  'order.approved': true,
  'order.shipped': true,
  'order.delivered': true,
  'order.cancelled': true,
  'order.shipment_changed': true,
  'stock.adjusted': true,
  'stock.low': true,
  'stock.depleted': true,
  'customer.created': true,
  'customer.updated': true,
  'customer.deleted': true,
  'customer.tier_changed': true,
  'customer.sessions_ended': true,
  'customer.password_reset_created': true,
  'customer.password_reset': true,
  'api_key.created': true,
  'api_key.renamed': true,
  'api_key.rotated': true,
  'api_key.revoked': true,
  'account.created': true,
  'account.plan_changed': true,
  'oauth_client.created': true,
  'oauth_client.deleted': true,
  'approval.requested': true,
  'approval.approved': true,
  'approval.denied': true,
  'approval.revoked': true,
  'webhook_endpoint.created': true,
  'webhook_endpoint.updated': true,
  'webhook_endpoint.disabled': true,
  'webhook_endpoint.deleted': true,
  'delivery_method.created': true,
  'delivery_method.changed': true,
  'delivery_method.deleted': true,
  'tax_rate.created': true,
  'tax_rate.changed': true,
  'tax_rate.deleted': true,
  'discount.created': true,
  'discount.changed': true,
  'discount.deleted': true,
  'shop.changed': true,
  'shop.reset': true,
  'shop.event_withdrawn': true,
};

/** How many types a filter or an endpoint may name. */
export const typesMax = 20;

interface Kind {
  /** "order" */
  readonly name: string;
  /** "order.*" */
  readonly all: string;
  readonly types: readonly string[];
}

/** The types, grouped by what they happen to. */
export const kinds: readonly Kind[] = Object.entries(
  Object.groupBy(Object.keys(known), (type) => type.split('.')[0] ?? ''),
).map(([name, types = []]) => ({ name: name.replaceAll('_', ' '), all: `${name}.*`, types }));
