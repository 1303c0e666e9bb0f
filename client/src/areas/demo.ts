import type { Outcome, WriteOptions } from '../options.ts';
import type { Result } from '../types.ts';
import { Area } from './area.ts';

/** The demo catalogue of a new shop. */
export class Demo extends Area {
  /** Deletes the demo cheeses that were not changed and never ordered. */
  delete<Options extends WriteOptions>(options?: Options): Promise<Outcome<Options, Result<'deleteDemo'>>> {
    return this.api.delete('/v2/demo', {}, options);
  }
}
