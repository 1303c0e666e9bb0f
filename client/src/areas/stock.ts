import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Query, Stock as StockOfOne } from '../types.ts';
import { Area } from './area.ts';

/** Kilograms of the cheeses whose stock is tracked. */
export class Stock extends Area {
  /** Lists the stock of all tracked cheeses, by cheese id. */
  list(filters?: Query<'listStock'>, options?: CallOptions): ListOf<'listStock'> {
    return this.api.list('/v2/stock', { query: filters }, options);
  }

  /** Returns the stock of a cheese. */
  get(cheeseId: number, options?: CallOptions): Promise<StockOfOne> {
    return this.api.get('/v2/cheeses/{cheeseId}/stock', { path: { cheeseId } }, options);
  }

  /** Sets the counted stock of a cheese, or begins to track it. */
  replace<Options extends WriteOptions>(
    cheeseId: number,
    stock: Body<'replaceCheeseStock'>,
    options?: Options,
  ): Promise<Outcome<Options, StockOfOne>> {
    return this.api.put('/v2/cheeses/{cheeseId}/stock', { path: { cheeseId }, body: stock }, options);
  }

  /** Stops tracking the stock of a cheese, which is sold without limit from then on. */
  delete<Options extends WriteOptions>(cheeseId: number, options?: Options): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/cheeses/{cheeseId}/stock', { path: { cheeseId } }, options);
  }

  /** Adds to the stock of a cheese, or subtracts from it. */
  adjust<Options extends WriteOptions>(
    cheeseId: number,
    adjustment: Body<'adjustCheeseStock'>,
    options?: Options,
  ): Promise<Outcome<Options, StockOfOne>> {
    const path = { cheeseId };
    return this.api.post('/v2/cheeses/{cheeseId}/stock/adjustments', { path, body: adjustment }, options);
  }
}
