/**
 * Makes mails of new events, a page at a time. Mails, their jobs and the position are stored in one transaction, so each
 * event is examined exactly once, and no order waits for its mail.
 */
import type { ScopeApprovals } from '../auth/oauth/scope-approvals.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Database, Sql } from '../database/database.ts';
import {
  readEvents,
  readLogState,
  readTimedHeads,
  type TimedHeadRow,
} from '../event-log/reading/log-reader.ts';
import { type LogState, positionAt } from '../event-log/reading/positions.ts';
import { RepeatedWork } from '../jobs/repeated-work.ts';
import type { Log } from '../log.ts';
import { readCustomersOfOrders } from '../orders/order.ts';
import type { Config, MailName } from '../settings/config.ts';
import { addMailJobs, lifetimeMs } from './jobs.ts';
import { mailQueries, type NewMail } from './queries.ts';

const intervalMs = 2000;
/** One page of the log. */
const eventsMax = 500;

const mailsOfOrders: Readonly<Record<string, MailName>> = {
  'order.placed': 'order-placed',
  'order.shipped': 'order-shipped',
  'order.delivered': 'order-delivered',
  'order.cancelled': 'order-cancelled',
};

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
  readonly config: Pick<Config, 'mails'>;
  readonly approvals: Pick<ScopeApprovals, 'listApprovedStaff'>;
  /** Mails were added. */
  readonly onMails: () => void;
}

export function createMailReader(dependencies: Dependencies): RepeatedWork {
  const { database, config, approvals, log, onMails } = dependencies;
  /** Version at the last look: the database has not changed while it has the same version. */
  let examined: number | null = null;

  /** Returns whether to continue at once. */
  async function readPage(): Promise<boolean> {
    const position = (await mailQueries(database).findReader())?.position ?? null;
    if (position === null) {
      await database.transaction(beginReading);
      return true;
    }
    const heads = await readTimedHeads(database, position, eventsMax);
    const last = heads.at(-1);
    if (last === undefined) {
      return false;
    }
    const mails = await mailsOf(heads, await readLogState(database));
    const isStored = await database.transaction(async (tx) => {
      const now = dependencies.clock.now();
      const queries = mailQueries(tx);
      if ((await queries.lockReader())?.position !== position) {
        // Another instance has examined them.
        return false;
      }
      if (mails.length > 0) {
        await queries.insertAll(mails);
        const added = await queries.listOfEvents(position, last.sequence);
        await addMailJobs(
          tx,
          added.map(({ id }) => id),
          now,
        );
      }
      await queries.updatePosition(last.sequence);
      return true;
    });
    if (isStored && mails.length > 0) {
      onMails();
    }
    return isStored;
  }

  async function mailsOf(heads: readonly TimedHeadRow[], state: LogState): Promise<NewMail[]> {
    const wanted = heads.filter(({ type }) => {
      const name = mailsOfOrders[type];
      return name !== undefined && config.mails.includes(name);
    });
    const orders = wanted.map(({ subject }) => orderOf(subject));
    const customers = await readCustomersOfOrders(database, [...new Set(orders)]);
    const ofOrders = wanted.flatMap((head, index) => {
      const order_id = orders[index] ?? 0;
      const customer = customers.get(order_id);
      const name = mailsOfOrders[head.type] as MailName;
      return customer === undefined ? [] : [newMail(name, head, state, { customer_id: customer, order_id })];
    });
    return [...ofOrders, ...(await mailsOfCredentials(heads, state))];
  }

  /** OAuth clients, and API keys with the scope admin that a command has created: every operator gets a mail. */
  async function mailsOfCredentials(heads: readonly TimedHeadRow[], state: LogState): Promise<NewMail[]> {
    const created = heads.filter(({ type }) => type === 'oauth_client.created' || type === 'api_key.created');
    if (created.length === 0 || !config.mails.includes('key-created')) {
      return [];
    }
    const events = await readEvents(
      database,
      created.map(({ sequence }) => sequence),
    );
    const notable = created.filter(({ sequence }) => {
      const event = events.get(sequence);
      return event !== undefined && isNotable(event.type, event.actor, event.data);
    });
    const operators = notable.length === 0 ? [] : await approvals.listApprovedStaff();
    return notable.flatMap((head) =>
      operators.map((customer_id) => newMail('key-created', head, state, { customer_id, order_id: null })),
    );
  }

  return new RepeatedWork(
    intervalMs,
    async (isStopped) => {
      const version = database.dataVersion();
      if (version !== null && version === examined) {
        return;
      }
      while (!isStopped() && (await readPage())) {}
      examined = version;
    },
    (error) => log.error({ err: error }, 'mails of new events could not be added; it is tried again'),
  );
}

/** Mails begin with the next event. */
async function beginReading(tx: Sql): Promise<void> {
  if ((await mailQueries(tx).lockReader())?.position === null) {
    await mailQueries(tx).updatePosition((await readLogState(tx)).last);
  }
}

const orderOf = (subject: string) => Number(subject.slice('order:'.length));

/** The server itself creates the first key of a local shop. */
function isNotable(type: string, actor: string, data: string): boolean {
  const { scopes = [] } = JSON.parse(data) as { readonly scopes?: readonly string[] };
  return type === 'api_key.created' ? actor === 'cli' && scopes.includes('admin') : actor !== 'system';
}

function newMail(
  name: MailName,
  { sequence, created_at }: TimedHeadRow,
  { epochs }: LogState,
  about: Pick<NewMail, 'customer_id' | 'order_id'>,
): NewMail {
  return {
    name,
    ...about,
    sequence,
    event_id: positionAt(sequence, epochs),
    created_at,
    expires_at: timestamp(Date.parse(created_at) + lifetimeMs(name)),
    sealed_address: null,
  };
}
