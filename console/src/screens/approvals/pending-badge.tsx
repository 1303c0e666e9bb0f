/** The number of requests that wait for an operator, in the navigation. */
import { Badge } from '@mantine/core';
import { useApi } from '../../data/queries.ts';

export function PendingBadge() {
  const { data } = useApi(['approvals', 'pending'], (curd) => curd.approvals.list({ status: 'pending' }));
  const count = data?.items.length ?? 0;
  return count === 0 ? null : (
    <Badge size="sm" circle={count < 10} aria-label={`${count} pending`}>
      {count}
    </Badge>
  );
}
