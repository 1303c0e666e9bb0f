import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { List, ListOf } from '../pages.ts';
import type { Body, Cheese, CheeseChange, Query, Result, Schemas } from '../types.ts';
import { type ImportOptions, importFile, type UploadOptions, uploadImage } from '../upload.ts';
import { Area } from './area.ts';

/**
 * A page of the list of cheeses: with facets if the request asks for them. Filters of a variable of the type
 * `Query<'listCheeses'>` can have facets, so the page can have them.
 */
export type CheesePage<Filters> = Filters extends { readonly facets: readonly unknown[] }
  ? Schemas['CheeseListWithFacets']
  : 'facets' extends keyof Filters
    ? Schemas['CheeseList'] & Partial<Pick<Schemas['CheeseListWithFacets'], 'facets'>>
    : Schemas['CheeseList'];

/** A page of changes of the catalogue. */
export type CheeseChangePage = Omit<Result<'listCheeseChanges'>, 'items'> & { items: CheeseChange[] };

/** The catalogue. */
export class Cheeses extends Area {
  /** Lists cheeses. A cheese must match all filters. */
  list<Filters extends Query<'listCheeses'> = Record<never, never>>(
    filters?: Filters,
    options?: CallOptions,
  ): List<Cheese, CheesePage<Filters>> {
    return this.api.list('/v2/cheeses', { query: filters }, options) as List<Cheese, CheesePage<Filters>>;
  }

  /** Returns a cheese. */
  get(cheeseId: number, options?: CallOptions): Promise<Cheese> {
    return this.api.get('/v2/cheeses/{cheeseId}', { path: { cheeseId } }, options);
  }

  /** Lists the prices of a cheese, the newest first. A page also has the lowest price of 30 days, and the reduction. */
  listPrices(
    cheeseId: number,
    filters?: Query<'listCheesePrices'>,
    options?: CallOptions,
  ): ListOf<'listCheesePrices'> {
    return this.api.list('/v2/cheeses/{cheeseId}/prices', { path: { cheeseId }, query: filters }, options);
  }

  /** Returns whether a cheese can be ordered, and how much of it. */
  getAvailability(cheeseId: number, options?: CallOptions): Promise<Result<'getCheeseAvailability'>> {
    return this.api.get('/v2/cheeses/{cheeseId}/availability', { path: { cheeseId } }, options);
  }

  /** Lists which of up to 100 cheeses can be ordered, and how much of them. */
  listAvailability(filters: Query<'listAvailability'>, options?: CallOptions): ListOf<'listAvailability'> {
    return this.api.listAll('/v2/availability', { query: filters }, options);
  }

  /** Adds a cheese. */
  create<Options extends WriteOptions>(
    cheese: Body<'createCheese'>,
    options?: Options,
  ): Promise<Outcome<Options, Cheese>> {
    return this.api.post('/v2/cheeses', { body: cheese }, options);
  }

  /** Changes prices, status, category and tags of up to 1,000 cheeses: all or none. `undo` of the result restores them. */
  changeAll<Options extends WriteOptions>(
    changes: Body<'changeCheeses'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'changeCheeses'>>> {
    return this.api.post('/v2/cheeses/bulk', { body: changes }, options);
  }

  /** Replaces a cheese. Optional fields that are absent get their defaults. */
  replace<Options extends WriteOptions>(
    cheese: Body<'replaceCheese'>,
    options?: Options,
  ): Promise<Outcome<Options, Cheese>> {
    return this.api.put('/v2/cheeses', { body: cheese }, options);
  }

  /** Changes the given fields of a cheese. Null removes an optional field. */
  patch<Options extends WriteOptions>(
    cheeseId: number,
    changes: Body<'patchCheese'>,
    options?: Options,
  ): Promise<Outcome<Options, Cheese>> {
    return this.api.patch('/v2/cheeses/{cheeseId}', { path: { cheeseId }, body: changes }, options);
  }

  /** Changes the name or the status of a cheese. */
  update<Options extends WriteOptions>(
    cheeseId: number,
    changes: Body<'updateCheese'>,
    options?: Options,
  ): Promise<Outcome<Options, Cheese>> {
    return this.api.post('/v2/cheeses/{cheeseId}', { path: { cheeseId }, body: changes }, options);
  }

  /** Deletes a cheese, and sends the confirmation that the API requires. */
  delete<Options extends WriteOptions>(cheeseId: number, options?: Options): Promise<Outcome<Options, void>> {
    const headers = { 'X-Confirm-Delete': 'true', ...options?.headers };
    const path = '/v2/cheeses/{cheeseId}';
    return this.api.delete<typeof path, Options>(
      path,
      { path: { cheeseId } },
      { ...(options as Options), headers },
    );
  }

  /** Lists all cheeses with one of these statuses, or a part of them with `limit`. */
  findByStatus(filters: Query<'findCheesesByStatus'>, options?: CallOptions): Promise<Cheese[]> {
    return this.api.get('/v2/cheeses/findByStatus', { query: filters }, options);
  }

  /**
   * Lists all cheeses with one of these tags.
   * @deprecated Use `list({ tags })`.
   */
  findByTags(filters: Query<'findCheesesByTags'>, options?: CallOptions): Promise<Cheese[]> {
    return this.api.get('/v2/cheeses/findByTags', { query: filters }, options);
  }

  /**
   * Lists cheeses in the order of their last change, each in its newest state, and deleted ones without `cheese`. Save
   * `token` after each item, and continue with it as `since`.
   */
  listChanges(
    filters?: Query<'listCheeseChanges'>,
    options?: CallOptions,
  ): List<CheeseChange, CheeseChangePage> {
    return this.api.list('/v2/cheeses/changes', { query: filters }, options) as List<
      CheeseChange,
      CheeseChangePage
    >;
  }

  /** Uploads a JPEG, PNG or WebP image of at most 10 MiB. */
  uploadImage(
    cheeseId: number,
    image: Blob,
    options: UploadOptions = {},
  ): Promise<Result<'uploadCheeseImage'>> {
    return uploadImage(this.api, cheeseId, image, options);
  }

  /** Imports a CSV, JSON or NDJSON file of cheeses. With `preview`, nothing is written. */
  import(file: Blob | string, options: ImportOptions = {}): Promise<Result<'importCheeses'>> {
    return importFile(this.api, file, options);
  }

  /** Lists the images of a cheese. */
  listImages(cheeseId: number, options?: CallOptions): ListOf<'listCheeseImages'> {
    return this.api.listAll('/v2/cheeses/{cheeseId}/images', { path: { cheeseId } }, options);
  }
}

/** How many cheeses the catalogue has. */
export class Inventory extends Area {
  /** Counts cheeses by status. */
  get(options?: CallOptions): Promise<Result<'getInventory'>> {
    return this.api.get('/v2/store/inventory', {}, options);
  }
}

/** The categories of cheeses. */
export class Categories extends Area {
  /** Lists categories by name, with their numbers of cheeses. */
  list(filters?: Query<'listCategories'>, options?: CallOptions): ListOf<'listCategories'> {
    return this.api.list('/v2/categories', { query: filters }, options);
  }
}

/** The tags of cheeses. */
export class Tags extends Area {
  /** Lists tags by name, with their numbers of cheeses. */
  list(filters?: Query<'listTags'>, options?: CallOptions): ListOf<'listTags'> {
    return this.api.list('/v2/tags', { query: filters }, options);
  }
}
