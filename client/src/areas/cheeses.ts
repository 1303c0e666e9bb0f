import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { List } from '../pages.ts';
import type { Cheese, CheeseChange, Query, Result, Schemas } from '../types.ts';
import { type ImportOptions, importFile, type UploadOptions, uploadImage } from '../upload.ts';
import { GeneratedCheeses } from './generated.ts';

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
export class Cheeses extends GeneratedCheeses {
  /** Lists cheeses. A cheese must match all filters. */
  list<Filters extends Query<'listCheeses'> = Record<never, never>>(
    filters?: Filters,
    options?: CallOptions,
  ): List<Cheese, CheesePage<Filters>> {
    return this.api.list('/v2/cheeses', { query: filters }, options) as List<Cheese, CheesePage<Filters>>;
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
}
