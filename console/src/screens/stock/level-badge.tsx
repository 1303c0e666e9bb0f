/** Shows in words what an operator should look at. */
import { Badge } from '@mantine/core';
import type { Stock } from '../../../../client/src/index.ts';
import { isLow, isSoldOut } from './supply.ts';

export function LevelBadge({ stock }: { readonly stock: Pick<Stock, 'available' | 'lowAt'> }) {
  if (isSoldOut(stock)) {
    return (
      <Badge size="sm" color="red" variant="light" tt="none">
        sold out
      </Badge>
    );
  }
  return isLow(stock) ? (
    <Badge size="sm" color="yellow" variant="light" tt="none">
      low
    </Badge>
  ) : null;
}
