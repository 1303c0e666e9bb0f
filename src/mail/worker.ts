/** Makes mails of new events and sends them, from the start of the server on. A shop without mail does neither. */
import { timestamp } from '../clock.ts';
import { commandName } from '../command-name.ts';
import type { Database } from '../database/database.ts';
import { purgeInSlices } from '../database/purge.ts';
import { createFollowing } from '../event-log/reading/event-follower.ts';
import { leasedJobs } from '../jobs/leases.ts';
import type { Loops } from '../jobs/loops.ts';
import { createOutbox } from '../jobs/outbox.ts';
import { type MailName, mailNames } from '../settings/mail.ts';
import { mailKind, mailLane } from './jobs.ts';
import { createMailOutbox, type MailOutboxDependencies } from './mail-outbox.ts';
import { skipEvents } from './pause.ts';
import { type MailState, mailQueries } from './queries.ts';
import { createMailReader } from './reader.ts';

const dayMs = 24 * 60 * 60_000;
const keptMs = 30 * dayMs;
const hourMs = 60 * 60_000;

const endStates = ['sent', 'dropped', 'failed'] as const satisfies readonly MailState[];
type Ended = (typeof endStates)[number];

const labelOf = (name: MailName, state: Ended) => `{mail="${name}",state="${state}"}`;

export interface MailStats {
  /** Mails that ended since the start, by name and state. */
  readonly ended: () => Readonly<Record<string, number>>;
  /** Age of the oldest mail that waits; 0 without one. */
  oldestWaitingSeconds(): Promise<number>;
  /** Mails by state: those that wait, and those that failed within 30 days. */
  counts(): Promise<Readonly<Record<'waiting' | 'failed', number>>>;
  /** Why no mail can be sent; null if that is not known. */
  senderFault(): string | null;
}

type Dependencies = Omit<MailOutboxDependencies, 'onEnd'> &
  Omit<Parameters<typeof createMailReader>[0], 'onMails'> & {
    readonly database: Database;
    readonly loops: Loops;
  };

export type MailWorker = ReturnType<typeof createMailWorker>;

export function createMailWorker(dependencies: Dependencies) {
  const { database, clock, log, config } = dependencies;
  const queries = mailQueries(database);
  const ended = new Map<string, number>(
    mailNames.flatMap((name) => endStates.map((state) => [labelOf(name, state), 0] as const)),
  );
  const mailOutbox = createMailOutbox({ ...dependencies, onEnd: countEnd });
  const outbox = createOutbox(dependencies, mailOutbox.content);
  const onMails = () => outbox.wake(mailLane.lane);
  const reader = createFollowing(dependencies, createMailReader({ ...dependencies, onMails }));
  const isOn = config.mail.kind !== 'off';
  let isStarted = false;

  function countEnd(name: MailName, state: Ended): void {
    const label = labelOf(name, state);
    ended.set(label, (ended.get(label) ?? 0) + 1);
  }

  return {
    /** @param isOnlyServer no other process sends mails: then leases of before are over */
    async start(isOnlyServer = false) {
      if (!isOn) {
        // If mail is turned on again, old events cause no mails.
        if (((await queries.findReader())?.position ?? null) !== null) {
          await database.transaction(skipEvents);
        }
        return;
      }
      isStarted = true;
      if (isOnlyServer) {
        await leasedJobs(database).endAllLeases(mailKind, clock.now());
      }
      if ((await queries.findReader())?.is_paused === 1) {
        log.warn(
          `mails wait, because this shop was copied or restored; "${commandName} mail resume" sends them, "${commandName} mail discard" drops them`,
        );
      }
      await reader.run();
      reader.start();
      outbox.start();
    },
    /** Mails were added, or may be sent now: call it after the commit. */
    wake() {
      if (isStarted) {
        outbox.wake(mailLane.lane);
      }
    },
    /** Deletes mails that ended long ago, and hashes of addresses. Returns whether some are left. */
    async purge(): Promise<boolean> {
      const now = clock.now();
      await purgeInSlices(database, (tx, limit) =>
        mailQueries(tx).clearOldRecipients(timestamp(now - hourMs), limit),
      );
      return purgeInSlices(database, (tx, limit) =>
        mailQueries(tx).deleteEnded(timestamp(now - keptMs), limit),
      );
    },
    /** Makes mails of all events, and sends what is due now: for tests. */
    async run() {
      await reader.run();
      await outbox.run();
    },
    async stop() {
      await mailOutbox.close();
      await Promise.all([reader.stop(), outbox.stop()]);
    },
    stats: {
      ended: () => Object.fromEntries(ended),
      async oldestWaitingSeconds() {
        const oldest = isOn ? await queries.findOldestWaiting() : null;
        return oldest === null ? 0 : Math.max(0, clock.now() - Date.parse(oldest)) / 1000;
      },
      async counts() {
        const counts = await queries.countByState();
        return {
          waiting: 0,
          failed: 0,
          ...Object.fromEntries(counts.map(({ state, count }) => [state, count])),
        };
      },
      senderFault: mailOutbox.senderFault,
    },
  };
}
