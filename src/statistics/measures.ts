/** What is counted, and the quarters of an hour in which it is counted. */

/** The measures of series, by the type of event that counts 1. */
const measuresOfTypes = {
  'order.placed': 'orders.placed',
  'order.approved': 'orders.approved',
  'order.shipped': 'orders.shipped',
  'order.delivered': 'orders.delivered',
  'order.cancelled': 'orders.cancelled',
  'customer.created': 'customers.created',
  'customer.deleted': 'customers.deleted',
  'cheese.created': 'cheeses.created',
  'cheese.deleted': 'cheeses.deleted',
} as const;

/** Types of events that are counted. */
export const countedTypes = Object.keys(measuresOfTypes);

export const measures = [
  'orders.placed',
  'orders.approved',
  'orders.shipped',
  'orders.delivered',
  'orders.cancelled',
  'orders.sold',
  'orders.placedValue',
  'orders.deliveredValue',
  'customers.created',
  'customers.deleted',
  'cheeses.created',
  'cheeses.deleted',
] as const;
export type Measure = (typeof measures)[number];

/** Whether the values of a measure are cents. */
export function isMoney(measure: Measure): boolean {
  return measure.endsWith('Value');
}

/** The measure that counts events of a type; undefined for types that are not counted. */
export function findMeasure(type: string): Measure | undefined {
  return measuresOfTypes[type as keyof typeof measuresOfTypes];
}

/** The quarter of an hour of a time: `2026-06-01T10:15` for `2026-06-01T10:29:59.999Z`. */
export function toQuarterHour(time: string): string {
  const minutes = Number(time.slice(14, 16));
  return `${time.slice(0, 14)}${String(minutes - (minutes % 15)).padStart(2, '0')}`;
}

/** The day of a time in UTC. */
export function toUtcDay(time: string): string {
  return time.slice(0, 10);
}
