/** A link to what the request log says about a request. */
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

interface Props {
  /** Its `X-Request-Id`. */
  readonly id: string;
  readonly children?: string;
}

export function RequestLink({ id, children = 'request' }: Props) {
  return (
    <Anchor
      component={Link}
      href={`/requests/${encodeURIComponent(id)}`}
      size="sm"
      title={id}
      underline="always"
    >
      {children}
    </Anchor>
  );
}
