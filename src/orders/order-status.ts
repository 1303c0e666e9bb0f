/** The life of an order: which status may follow which. */

export const orderStatuses = ['placed', 'approved', 'shipped', 'delivered', 'cancelled'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

const next: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  placed: ['approved', 'cancelled'],
  approved: ['shipped', 'cancelled'],
  shipped: ['delivered'],
  delivered: [],
  cancelled: [],
};

/** The statuses from which an order may come to `status`. */
export function allowedFrom(status: OrderStatus): OrderStatus[] {
  return orderStatuses.filter((from) => next[from].includes(status));
}

/** In words, for whoever asked for something else. */
export function nextStatusText(status: OrderStatus): string {
  const words = next[status].join(' or ');
  return words === ''
    ? `An order that is ${status} stays so.`
    : `From ${status} it can only become ${words}.`;
}
