/** The state of a mail, and when it is tried next. */
import { Badge, Text } from '@mantine/core';
import type { Result } from '../../../../client/src/index.ts';
import { Until } from '../../parts/text/time.tsx';

export type Mail = Result<'listMails'>['items'][number];

const colors = { waiting: 'blue', sent: 'green', dropped: 'gray', failed: 'red' } as const;

export const states = ['waiting', 'sent', 'dropped', 'failed'] as const;

export const nameOfState = (state: Mail['state']): string => (state === 'dropped' ? 'not sent' : state);

export function StateBadge({ mail: { state, reason } }: { readonly mail: Mail }) {
  // A mail server that accepts a mail gives no reason.
  const isFile = state === 'sent' && reason !== null;
  return (
    <Badge color={isFile ? 'gray' : colors[state]} variant="light">
      {isFile ? 'file' : nameOfState(state)}
    </Badge>
  );
}

export function NextAttempt({ mail: { state, nextAttemptAt } }: { readonly mail: Mail }) {
  if (state !== 'waiting') {
    return null;
  }
  return (
    <Text size="xs" c="dimmed">
      {nextAttemptAt === null ? (
        'being sent'
      ) : Date.parse(nextAttemptAt) <= Date.now() ? (
        'due now'
      ) : (
        <>
          next attempt <Until at={nextAttemptAt} />
        </>
      )}
    </Text>
  );
}
