/**
 * The rule that a cheese with nothing available is sold, and available again after a restock. A background job applies
 * it, because the status belongs to the catalogue, whose only row an order must not lock.
 */
import type { CheeseService } from '../cheeses/service.ts';
import type { Context } from '../database/context.ts';
import { jobQueue } from '../jobs/queue.ts';
import type { JobHandler } from '../jobs/worker.ts';
import { isDepleted, statusKind } from './levels.ts';
import { stockQueries } from './queries.ts';

/** One cheese in a transaction. It locks the catalogue, the cheese, its stock and at last the job, as all others do. */
export function createStatusHandler(cheeses: CheeseService, context: Context): JobHandler {
  return {
    kind: statusKind,
    attemptsMax: 20,
    async run(tx, { key }) {
      const id = Number(key);
      await cheeses.lockCatalogue(tx);
      const status = await cheeses.lock(tx, id);
      const stock = await stockQueries(tx).lock(id);
      if (stock !== undefined) {
        if (status === 'available' && isDepleted(stock)) {
          await cheeses.updateIn(tx, context, id, { status: 'sold' });
          await stockQueries(tx).updateSetSold(id, 1);
        } else if (status === 'sold' && stock.set_sold === 1 && !isDepleted(stock)) {
          // The change of the status clears set_sold.
          await cheeses.updateIn(tx, context, id, { status: 'available' });
        }
      }
      await jobQueue(tx).delete(statusKind, key);
    },
  };
}
