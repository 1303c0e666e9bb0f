/** What the server says of itself. */
import { useApi } from './queries.ts';

/** Returns no data while it is loading, and if it cannot be read. */
export function useStatus() {
  return useApi(['status'], (curd, signal) => curd.status.get({ signal }));
}
