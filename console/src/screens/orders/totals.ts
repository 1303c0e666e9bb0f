/** How many orders wait for something. The board and Home share what was read. */
import type { Query } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';

type Waiting = 'needsApproval' | 'toShip' | 'late';

const filters: Readonly<Record<Waiting, NonNullable<Query<'listOrders'>>>> = {
  needsApproval: { needsApproval: true },
  toShip: { status: ['approved'] },
  late: { late: true },
};

/** Undefined until it is read, and if it cannot be read. */
export function useOrderTotal(name: Waiting): number | undefined {
  const { data } = useApi(['orders', 'total', name], async (curd, signal) => {
    return (await curd.orders.list({ ...filters[name], limit: 1 }, { signal })).total;
  });
  return data;
}
