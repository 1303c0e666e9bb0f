/**
 * Requests of customers for a link to set a new password. The response does not depend on whether the customer exists:
 * it is sent before the customer is looked up.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { CustomerFinder } from '../../customers/customer-finder.ts';
import type { CustomerService } from '../../customers/service.ts';
import type { Database } from '../../database/database.ts';
import { AppError } from '../../errors.ts';
import { createGenerationalCache } from '../../limits/generational-cache.ts';
import { SlidingWindow } from '../../limits/sliding-window.ts';
import type { Log } from '../../log.ts';
import type { Config } from '../../settings/config.ts';
import { sendsMail } from '../../settings/mail.ts';
import type { AccountMails } from '../account-mails.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Client IPs that are counted within two hours. */
const clientIpsMax = 20_000;
/** Requests whose customer is looked up at once. Another one waits for its response. */
const runningMax = 16;

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
  const windows = createGenerationalCache<SlidingWindow>(clientIpsMax, 2 * hourMs, clock);
  const running = new Set<Promise<void>>();

  /** @throws AppError rateLimited */
  function count(clientIp: string): void {
    const now = clock.now();
    const window = windows.get(clientIp) ?? windows.set(clientIp, new SlidingWindow(hourMs, minuteMs));
    if (window.count(now) >= limit) {
      const waitMs = window.msUntilFree(now);
      throw new AppError(
        'rateLimited',
        `Too many links for a new password were requested from one client IP: ${limit} are permitted within an hour. Wait as long as Retry-After says.`,
        {
          details: {
            retryAfterMs: waitMs,
            limits: [{ policy: 'address', limit, windowSeconds: 3600, remaining: 0, resetMs: waitMs }],
            readAt: now,
            refusedBy: 'clientIp',
          },
        },
      );
    }
    window.add(now);
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
    /** @throws AppError conflict where no link can be mailed, rateLimited */
    async request(login: ResetLogin, clientIp: string) {
      if (!isOn) {
        throw new AppError(
          'conflict',
          'This shop sends no mails, so it cannot send a link. Ask an operator of the shop for one.',
        );
      }
      count(clientIp);
      while (running.size >= runningMax) {
        await Promise.race(running);
      }
      // SQLite runs statements at once, which would delay the response for a customer who exists.
      const work = nextTurn()
        .then(() => addMail(login))
        .catch((error) => log.error({ err: error }, 'a link for a new password could not be requested'))
        .finally(() => running.delete(work));
      running.add(work);
    },
    /** Waits for the requests whose customer is looked up. */
    async settled() {
      await Promise.all(running);
    },
  };
}
