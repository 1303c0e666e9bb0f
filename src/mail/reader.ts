/** Makes mails of new events: it follows the event log, and stores mails with their jobs. */
import type { ScopeApprovals } from '../auth/oauth/scope-approvals.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { Sql } from '../database/database.ts';
import type { EventFollower } from '../event-log/reading/event-follower.ts';
import {
  readEvents,
  readLogState,
  readTimedHeads,
  type TimedHeadRow,
} from '../event-log/reading/log-reader.ts';
import { type LogState, positionAt } from '../event-log/reading/positions.ts';
import { readCustomersOfOrders, readPickups } from '../orders/order.ts';
import type { Config, MailName } from '../settings/config.ts';
import { addMailJobs, lifetimeMs } from './jobs.ts';
import { mailQueries, type NewMail } from './queries.ts';

/** One page of the log. */
const eventsMax = 500;

const mailsOfOrders: Readonly<Record<string, MailName>> = {
  'order.placed': 'order-placed',
  'order.shipped': 'order-shipped',
  'order.delivered': 'order-delivered',
  'order.cancelled': 'order-cancelled',
};

interface Dependencies {
  readonly clock: Clock;
  readonly config: Pick<Config, 'mails'>;
  readonly approvals: Pick<ScopeApprovals, 'listApprovedStaff'>;
  /** Mails were added. */
  readonly onMails: () => void;
}

export function createMailReader(dependencies: Dependencies): EventFollower<number, readonly NewMail[]> {
  const { clock, config, approvals, onMails } = dependencies;

  async function mailsOf(sql: Sql, heads: readonly TimedHeadRow[], state: LogState): Promise<NewMail[]> {
    const named = await withNames(sql, heads);
    const wanted = named.filter(({ name }) => config.mails.includes(name));
    const customers = await readCustomersOfOrders(sql, [...new Set(wanted.map(({ order_id }) => order_id))]);
    const ofOrders = wanted.flatMap(({ head, name, order_id }) => {
      const customer = customers.get(order_id);
      return customer === undefined ? [] : [newMail(name, head, state, { customer_id: customer, order_id })];
    });
    return [...ofOrders, ...(await mailsOfCredentials(sql, heads, state))];
  }

  /** OAuth clients, and API keys with the scope admin that a command has created: every operator gets a mail. */
  async function mailsOfCredentials(
    sql: Sql,
    heads: readonly TimedHeadRow[],
    state: LogState,
  ): Promise<NewMail[]> {
    const created = heads.filter(({ type }) => type === 'oauth_client.created' || type === 'api_key.created');
    if (created.length === 0 || !config.mails.includes('key-created')) {
      return [];
    }
    const events = await readEvents(
      sql,
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

  return {
    name: 'mail.events',
    failure: 'mails of new events could not be added; it is tried again',
    findPosition: async (sql) => (await mailQueries(sql).findReader())?.position ?? null,
    /** Mails begin with the next event. */
    async begin(tx) {
      if ((await mailQueries(tx).lockReader())?.position === null) {
        await mailQueries(tx).updatePosition((await readLogState(tx)).last);
      }
    },
    async read(sql, position) {
      const heads = await readTimedHeads(sql, position, eventsMax);
      const last = heads.at(-1);
      return last === undefined
        ? null
        : { page: await mailsOf(sql, heads, await readLogState(sql)), next: last.sequence };
    },
    lockPosition: async (tx) => (await mailQueries(tx).lockReader())?.position ?? null,
    async store(tx, mails, next, before) {
      const now = clock.now();
      const queries = mailQueries(tx);
      if (mails.length > 0) {
        await queries.insertAll(mails);
        const added = await queries.listOfEvents(before, next);
        await addMailJobs(
          tx,
          added.map(({ id }) => id),
          now,
        );
      }
      await queries.updatePosition(next);
    },
    onStored(mails) {
      if (mails.length > 0) {
        onMails();
      }
    },
  };
}

/** Events of orders with their mails: an order that the customer fetches is ready, and not on its way. */
async function withNames(sql: Sql, heads: readonly TimedHeadRow[]) {
  const ofOrders = heads.flatMap((head) => {
    const name = mailsOfOrders[head.type];
    return name === undefined ? [] : [{ head, name, order_id: orderOf(head.subject) }];
  });
  const shipped = ofOrders.filter(({ name }) => name === 'order-shipped').map(({ order_id }) => order_id);
  const pickups = await readPickups(sql, [...new Set(shipped)]);
  return ofOrders.map((mail) =>
    mail.name === 'order-shipped' && pickups.has(mail.order_id)
      ? { ...mail, name: 'order-ready' as const }
      : mail,
  );
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
