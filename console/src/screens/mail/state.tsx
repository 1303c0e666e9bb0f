/** The state of a mail, and when it is tried next. */
import { Badge, Text } from '@mantine/core';
import type { Result } from '../../../../client/src/index.ts';
import { Time } from '../../parts/text/time.tsx';

export type Mail = Result<'listMails'>['items'][number];

const colors = { waiting: 'blue', sent: 'green', dropped: 'gray', failed: 'red' } as const;

export const states = ['waiting', 'sent', 'dropped', 'failed'] as const;

export function StateBadge({ state }: Pick<Mail, 'state'>) {
  return (
    <Badge color={colors[state]} variant="light">
      {state}
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
          next attempt <Time at={nextAttemptAt} isRelative />
        </>
      )}
    </Text>
  );
}
