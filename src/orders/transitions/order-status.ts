/** The statuses of an order and the allowed transitions. */

export const orderStatuses = ['placed', 'approved', 'shipped', 'delivered', 'cancelled'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

const next: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  placed: ['approved', 'cancelled'],
  approved: ['shipped', 'cancelled'],
  shipped: ['delivered'],
  delivered: [],
  cancelled: [],
};

/** The statuses from which a transition to `status` is allowed. */
export function allowedFrom(status: OrderStatus): OrderStatus[] {
  return orderStatuses.filter((from) => next[from].includes(status));
}

/** The allowed transitions from a status, for error messages. */
export function nextStatusText(status: OrderStatus): string {
  const words = next[status].join(' or ');
  return words === '' ? `This status is final.` : `The next status can only be ${words}.`;
}
