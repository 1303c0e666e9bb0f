/** Why a delivery waits, in words. */
import type { ReactNode } from 'react';
import type { WebhookEndpoint } from '../../../../client/src/index.ts';
import { Until } from '../../parts/text/time.tsx';

type Props = Pick<WebhookEndpoint, 'waitingFor' | 'dueAt'>;

export function Waiting({ waitingFor, dueAt }: Props) {
  // The clock of the server may be behind.
  const isPast = dueAt !== null && Date.parse(dueAt) <= Date.now();
  const time = dueAt === null || isPast ? 'now' : <Until at={dueAt} />;
  const texts: Readonly<Record<NonNullable<Props['waitingFor']>, ReactNode>> = {
    lease: <>being sent; if its server has stopped, sent again {time}</>,
    earlier_delivery: 'waits for an earlier delivery of its subject',
    retry: <>next attempt {time}</>,
    pause: <>paused by the receiver, next attempt {time}</>,
    turn: 'due now',
    enabling: 'waits until the webhook is enabled',
  };
  return waitingFor === null ? null : texts[waitingFor];
}
