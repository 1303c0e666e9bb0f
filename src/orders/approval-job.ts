/**
 * Approves orders by itself when their time has come. A job is a row that was written with its order; whoever claims it
 * moves the order on and deletes the row in one transaction. So a crash between any two steps loses none and does none
 * twice, and two workers never take the same.
 */
import { type Clock, timestamp } from '../clock.ts';
import type { Context } from '../database/context.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import { orderQueries } from './queries.ts';
import type { OrderService } from './service.ts';

const pollMs = 250;
const batchMax = 64;
const retryMs = 1000;
const retryMsMax = 60_000;

export interface JobWorker {
  /** Begins to look for work, four times a second. */
  start(): void;
  /** Ends after what is under way. */
  stop(): Promise<void>;
  /** Does everything that is due now. */
  run(): Promise<void>;
}

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly orders: Pick<OrderService, 'approveDue'>;
  readonly context: Context;
  readonly log: Log;
}

export function createJobWorker({ database, clock, orders, context, log }: Dependencies): JobWorker {
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function approve(orderId: number): Promise<void> {
    try {
      await orders.approveDue(context, orderId);
    } catch (error) {
      log.error({ err: error, orderId }, 'an order could not be processed; it is tried again');
      await postpone(orderId);
    }
  }

  async function postpone(orderId: number): Promise<void> {
    try {
      await database.transaction(async (tx) => {
        const attempts = await orderQueries(tx).findAttempts(orderId);
        const waitMs = Math.min(retryMsMax, retryMs * 2 ** Math.min(attempts, 10));
        await orderQueries(tx).updateJob(orderId, timestamp(clock.now() + waitMs));
      });
    } catch (error) {
      log.error({ err: error, orderId }, 'nor could it be put off; it stays due');
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      const due = await orderQueries(database).listDueJobs(timestamp(clock.now()), batchMax);
      // Together: on SQLite they share a commit.
      await Promise.all(due.map(({ order_id }) => approve(order_id)));
      if (due.length < batchMax || isStopped) {
        return;
      }
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = run()
        .catch((error) => log.error({ err: error }, 'looking for orders to process failed'))
        .finally(() => {
          if (!isStopped) {
            schedule();
          }
        });
    }, pollMs).unref();
  }

  return {
    start: schedule,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
    run,
  };
}
