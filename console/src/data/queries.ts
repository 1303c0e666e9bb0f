/** How screens read data: a cache that events make stale, filled by the client of the signed-in person. */
import { QueryClient, useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { Curd } from '../../../client/src/index.ts';
import type { Person } from '../session/person.ts';
import { onRefused } from '../session/session.ts';

interface SignedIn {
  readonly curd: Curd;
  readonly person: Person;
}

export const SignedInContext = createContext<SignedIn | null>(null);

/** The client of the API, and the person who is signed in. */
export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (signedIn === null) {
    throw new Error('Nobody is signed in.');
  }
  return signedIn;
}

export function useCurd(): Curd {
  return useSignedIn().curd;
}

/** The client retries by itself. Data is current until an event says otherwise. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 60_000, refetchOnWindowFocus: true } },
});
queryClient.getQueryCache().subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'error') {
    onRefused(event.action.error);
  }
});

/**
 * Reads something by the API.
 * @param key the first part names the resource, by which events make it stale (live.ts)
 * @param everyMs reads it again, for what changes without an event
 */
export function useApi<T>(
  key: readonly unknown[],
  read: (curd: Curd, signal: AbortSignal) => PromiseLike<T>,
  everyMs: number | false = false,
) {
  const curd = useCurd();
  return useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => await read(curd, signal),
    refetchInterval: everyMs,
    ...(everyMs === false ? {} : { staleTime: 0 }),
  });
}

/** Reads a list without pages. The parameters are those of `useApi`. */
export function useList<Row>(
  key: readonly unknown[],
  read: (curd: Curd, signal: AbortSignal) => PromiseLike<{ readonly items: readonly Row[] }>,
  everyMs: number | false = false,
) {
  const { data, error, refetch } = useApi(key, read, everyMs);
  return { data, error, refetch, rows: data?.items ?? [] };
}
