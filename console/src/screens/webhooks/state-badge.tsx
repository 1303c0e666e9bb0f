import { Badge } from '@mantine/core';
import type { WebhookEndpoint } from '../../../../client/src/index.ts';
import { disabledReasons } from './health.ts';

/** Enabled, failing, or disabled with the reason on hover. */
export function StateBadge({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { status, disabledReason, failingSince } = endpoint;
  if (status === 'disabled') {
    return (
      <Badge
        color="red"
        variant="light"
        title={disabledReason === null ? undefined : disabledReasons[disabledReason]}
      >
        disabled
      </Badge>
    );
  }
  return failingSince === null ? (
    <Badge color="green" variant="light">
      enabled
    </Badge>
  ) : (
    <Badge color="yellow" variant="light">
      failing
    </Badge>
  );
}
