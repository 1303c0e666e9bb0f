/** What the server says of itself. */
import { useApi } from './queries.ts';

interface Status {
  readonly lastBackupAt: string | null;
  readonly engine: string;
  readonly settings: readonly { readonly variable: string; readonly value: string | null }[];
}

/** Without data while it is loading, and where it cannot be read. */
export function useStatus() {
  return useApi(
    ['status'],
    async (curd, signal) =>
      (await curd.http.get('/v2/status' as never, {} as never, { signal })) as unknown as Status,
  );
}
