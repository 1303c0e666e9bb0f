import type { CallOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Query, Result } from '../types.ts';
import { Area } from './area.ts';

/** The state of the server. */
export class Status extends Area {
  /** Returns the state of the shop: instances, database, event log, settings, failed requests. */
  get(options?: CallOptions): Promise<Result<'getStatus'>> {
    return this.api.get('/v2/status', {}, options);
  }
}

/** Consistency checks of the shop. */
export class Integrity extends Area {
  /** Lists the last results of `curd doctor`, newest first. */
  list(options?: CallOptions): ListOf<'listIntegrity'> {
    return this.api.listAll('/v2/integrity', {}, options);
  }
}

/** Figures of the shop, counted from the event log. */
export class Statistics extends Area {
  /** Returns how many orders, customers and cheeses there were in each hour, day, week or month. */
  getSeries(
    query: Query<'getStatisticsSeries'>,
    options?: CallOptions,
  ): Promise<Result<'getStatisticsSeries'>> {
    return this.api.get('/v2/statistics/series', { query }, options);
  }

  /** Lists the cheeses that sold best, the largest value first. */
  listBestSellers(query: Query<'listBestSellers'>, options?: CallOptions): ListOf<'listBestSellers'> {
    return this.api.listAll('/v2/statistics/best-sellers', { query }, options);
  }

  /** Lists what was sold of each category, the largest value first. */
  listSalesByCategory(
    query: Query<'listSalesByCategory'>,
    options?: CallOptions,
  ): ListOf<'listSalesByCategory'> {
    return this.api.listAll('/v2/statistics/sales-by-category', { query }, options);
  }

  /** Lists the orders to each country, the largest value first. */
  listSalesByCountry(
    query: Query<'listSalesByCountry'>,
    options?: CallOptions,
  ): ListOf<'listSalesByCountry'> {
    return this.api.listAll('/v2/statistics/sales-by-country', { query }, options);
  }

  /** Lists the orders of new customers, of returning customers, and of no customer. */
  listSalesByCustomer(
    query: Query<'listSalesByCustomer'>,
    options?: CallOptions,
  ): ListOf<'listSalesByCustomer'> {
    return this.api.listAll('/v2/statistics/sales-by-customer', { query }, options);
  }
}
