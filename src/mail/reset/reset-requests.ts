/**
 * Requests of customers for a link to set a new password. The response does not depend on whether the customer exists:
 * it is sent before the customer is looked up. Nor does the time of the next response: a mail costs the event loop
 * milliseconds, so it is added after a random delay.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { CustomerFinder } from '../../customers/customer-finder.ts';
import type { CustomerService } from '../../customers/service.ts';
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { createClientIpHours } from '../../limits/client-ip-hours.ts';
import type { Log } from '../../log.ts';
import type { Config } from '../../settings/config.ts';
import { sendsMail } from '../../settings/mail.ts';
import type { AccountMails } from '../account-mails.ts';

/** Requests whose customer is not looked up yet. Another one waits for its response. */
const waitingMax = 256;
const delayMsMin = 200;
const delayMsMax = 3000;

/** Whom a link is for. With both, the e-mail address is looked up first. */
export interface ResetLogin {
  readonly email?: string;
  readonly username?: string;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
  readonly config: Pick<Config, 'mail' | 'mails' | 'resetLimits'>;
  readonly customerFinder: Pick<CustomerFinder, 'idOfLogin'>;
  readonly customers: Pick<CustomerService, 'lockForUpdate'>;
  readonly accountMails: Pick<AccountMails, 'addReset'>;
  /** A mail was added. */
  readonly wake: () => void;
}

export type ResetRequests = ReturnType<typeof createResetRequests>;

export function createResetRequests(dependencies: Dependencies) {
  const { database, clock, log, config, customerFinder, customers, accountMails, wake } = dependencies;
  const limit = config.resetLimits.clientIp;
  const isOn = sendsMail(config, 'password-reset');
  const hours = createClientIpHours(clock, limit);
  const waiting = new Set<Promise<void>>();
  let delays = new AbortController();

  function delay(): Promise<void> {
    const part = Buffer.from(clock.random(4)).readUInt32BE() / 2 ** 32;
    const delayMs = delayMsMin + part * (delayMsMax - delayMsMin);
    return sleep(delayMs, undefined, { signal: delays.signal, ref: false }).catch(() => {});
  }

  /** @throws AppError rateLimited */
  function count(clientIp: string): void {
    const waitMs = hours.waitMs(clientIp);
    if (waitMs > 0) {
      throw new AppError(
        'rateLimited',
        `Too many links for a new password were requested from one client IP: ${limit} are permitted within an hour. Wait as long as Retry-After says.`,
        {
          details: {
            retryAfterMs: waitMs,
            limits: [{ policy: 'address', limit, windowSeconds: 3600, remaining: 0, resetMs: waitMs }],
            readAt: clock.now(),
            refusedBy: 'clientIp',
          },
        },
      );
    }
    hours.add(clientIp);
  }

  async function addMail(login: ResetLogin): Promise<void> {
    const customerId = await customerFinder.idOfLogin(database, login);
    if (customerId === undefined) {
      return;
    }
    await database.transaction(async (tx) => {
      // Locked, because parallel requests for a customer are counted.
      if (await customers.lockForUpdate(tx, customerId)) {
        await accountMails.addReset(tx, customerId);
      }
    });
    wake();
  }

  return {
    /** Whether links can be mailed. */
    isOn,
    /** @throws AppError conflict if no link can be mailed, rateLimited */
    async request(login: ResetLogin, clientIp: string) {
      if (!isOn) {
        throw new AppError(
          'conflict',
          'This shop sends no mails, so it cannot send a link. Ask an operator of the shop for one.',
        );
      }
      count(clientIp);
      while (waiting.size >= waitingMax) {
        await Promise.race(waiting);
      }
      const work = delay()
        .then(() => addMail(login))
        .catch((error) => log.error({ err: error }, 'a link for a new password could not be requested'))
        .finally(() => waiting.delete(work));
      waiting.add(work);
    },
    /** Ends the delays, and waits for the requests whose customer is not looked up yet. */
    async settled() {
      delays.abort();
      delays = new AbortController();
      await Promise.all(waiting);
    },
  };
}
