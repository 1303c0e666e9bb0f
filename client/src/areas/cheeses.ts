import type { CallOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Cheese, Query, Result } from '../types.ts';
import { type ImportOptions, importFile, type UploadOptions, uploadImage } from '../upload.ts';
import { Area } from './area.ts';

/** The catalogue. */
export class Cheeses extends Area {
  /** Lists cheeses. A cheese must match all filters. */
  list(filters?: Query<'listCheeses'>, options?: CallOptions): ListOf<'listCheeses'> {
    return this.api.list('/v2/cheeses', { query: filters }, options);
  }

  /** Returns a cheese. */
  get(cheeseId: number, options?: CallOptions): Promise<Cheese> {
    return this.api.get('/v2/cheeses/{cheeseId}', { path: { cheeseId } }, options);
  }

  /** Adds a cheese. */
  create(cheese: Body<'createCheese'>, options?: CallOptions): Promise<Cheese> {
    return this.api.post('/v2/cheeses', { body: cheese }, options);
  }

  /** Replaces a cheese. Optional fields that are absent get their defaults. */
  replace(cheese: Body<'replaceCheese'>, options?: CallOptions): Promise<Cheese> {
    return this.api.put('/v2/cheeses', { body: cheese }, options);
  }

  /** Changes the given fields of a cheese. Null removes an optional field. */
  patch(cheeseId: number, changes: Body<'patchCheese'>, options?: CallOptions): Promise<Cheese> {
    return this.api.patch('/v2/cheeses/{cheeseId}', { path: { cheeseId }, body: changes }, options);
  }

  /** Changes the name or the status of a cheese. */
  update(cheeseId: number, changes: Body<'updateCheese'>, options?: CallOptions): Promise<Cheese> {
    return this.api.post('/v2/cheeses/{cheeseId}', { path: { cheeseId }, body: changes }, options);
  }

  /** Deletes a cheese, and sends the confirmation that the API requires. */
  delete(cheeseId: number, options?: CallOptions): Promise<void> {
    const headers = { 'X-Confirm-Delete': 'true', ...options?.headers };
    return this.api.delete('/v2/cheeses/{cheeseId}', { path: { cheeseId } }, { ...options, headers });
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
  listChanges(filters?: Query<'listCheeseChanges'>, options?: CallOptions): ListOf<'listCheeseChanges'> {
    return this.api.list('/v2/cheeses/changes', { query: filters }, options);
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
