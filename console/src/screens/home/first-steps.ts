/** Which events tick the first steps. */
import type { CurdEvent } from '../../../../client/src/index.ts';

/** The demo shop is created by the system. A later step needs a key that may place orders, and its first key may not. */
export function isStep({ type, actor, data }: CurdEvent): boolean {
  return type === 'api_key.created'
    ? data.scopes.some((scope) => scope === 'write:orders' || scope === 'admin')
    : actor !== 'system';
}
