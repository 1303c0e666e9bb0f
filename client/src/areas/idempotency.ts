import type { CallOptions } from '../options.ts';
import type { Result } from '../types.ts';
import { GeneratedIdempotency } from './generated.ts';

/** Responses that are stored by their idempotency keys. */
export class Idempotency extends GeneratedIdempotency {
  /** Returns what was done under an idempotency key. */
  get(key: string, options?: CallOptions): Promise<Result<'getIdempotentResponse'>> {
    // fetch removes the path segments "." and "..". In quotes, they are the same keys.
    const segment = key === '.' || key === '..' ? `"${key}"` : key;
    return this.api.get('/v2/idempotency/{key}', { path: { key: segment } }, options);
  }
}
