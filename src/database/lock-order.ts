/**
 * The order of locks. On PostgreSQL a transaction that has locked rows of one table locks no other rows of a table before
 * it, and several rows of one table by their keys: so no two transactions wait for each other. Decision record 30 has
 * the reasons, and a test compares the statements of all kinds of requests with this list.
 */

/** Tables whose rows transactions lock, jobs by their kind, and advisory locks by their name. */
export const lockOrder = [
  'advisory exclusive transactions',
  'advisory test orders',
  'advisory names of customers',
  'account',
  'api_key',
  'advisory webhook endpoints of account',
  'webhook_endpoint',
  'catalogue',
  'cheese',
  'customer',
  'advisory orders of',
  'shop_profile',
  'advisory number of',
  'delivery_method',
  'tax_rate',
  'key_spend',
  'session',
  'password_reset',
  // Jobs that change orders. Those that change the status of a cheese come after its stock.
  'background_job order.approval',
  'background_job order.shipping',
  'background_job order.delivery',
  'orders',
  'stock',
  'background_job stock.status',
  'discount',
  'stock_count',
  'advisory notes of',
  'staff_note',
  'request',
  'image_file',
  'oauth_client',
  'admin_approval',
  'oauth_object',
  'login_network',
  'advisory failed logins',
  'login_failure',
  'mail_reader',
  'background_job mail.sending',
  'mail',
  'webhook_attempt',
  'webhook_delivery',
  'edge_purger',
  'order_count_change',
  'order_count',
  'statistic_position',
  'event',
  'event_log',
] as const;

/** Tables without a place: a transaction that locks their rows has locked the row of another table before. */
export const lockedWith: Readonly<Record<string, (typeof lockOrder)[number]>> = {
  term: 'catalogue',
  cheese_term: 'catalogue',
  term_count: 'catalogue',
  cheese_tombstone: 'catalogue',
  cheese_price: 'catalogue',
  open_order_cheese: 'orders',
  discount_use: 'orders',
  shipment: 'orders',
  cheese_image: 'catalogue',
  statistic: 'statistic_position',
  statistic_cheese: 'statistic_position',
  statistic_sale: 'statistic_position',
  'background_job webhook.delivery': 'webhook_endpoint',
};

type NameOf<Lock extends string> = Lock extends `advisory ${infer Name}` ? Name : never;

/** Locks of what has no row. */
export type AdvisoryLock = NameOf<(typeof lockOrder)[number]>;
