/** A status of a response, colored by its class. */
import { Badge } from '@mantine/core';

export function ResponseStatus({ status }: { readonly status: number }) {
  const color = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  return (
    <Badge color={color} variant="light">
      {status}
    </Badge>
  );
}
