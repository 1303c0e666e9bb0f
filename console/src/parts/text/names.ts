/** Names of keys, clients and customers, of which events have ids. All that a screen asks for at once is one request. */
import { useQueries } from '@tanstack/react-query';
import type { Curd } from '../../../../client/src/index.ts';
import { useSignedIn } from '../../data/queries.ts';

/** Names that the API returns at once. */
const namesMax = 100;
const freshMs = 10 * 60_000;

type Answer = (name: string | null) => void;

const waiting = new Map<string, Answer[]>();

async function readWaiting(curd: Curd): Promise<void> {
  const all = [...waiting];
  waiting.clear();
  for (let begin = 0; begin < all.length; begin += namesMax) {
    const part = all.slice(begin, begin + namesMax);
    // A name that cannot be read leaves the id.
    const items = await curd.events.listNames({ of: part.map(([mention]) => mention) }).then(
      (page) => page.items,
      () => [],
    );
    const names = new Map(items.map(({ of, name }) => [of, name]));
    for (const [mention, answers] of part) {
      for (const answer of answers) {
        answer(names.get(mention) ?? null);
      }
    }
  }
}

function readName(curd: Curd, mention: string): Promise<string | null> {
  return new Promise((resolve) => {
    if (waiting.size === 0) {
      window.setTimeout(() => void readWaiting(curd));
    }
    waiting.set(mention, [...(waiting.get(mention) ?? []), resolve]);
  });
}

/** @param mentions `key:2`, `client:ab12`, `customer:5` @returns null for each that has no name, or is not read yet */
export function useNames(mentions: readonly string[]): (string | null)[] {
  const { curd, person } = useSignedIn();
  return useQueries({
    queries: mentions.map((mention) => ({
      queryKey: ['name', mention],
      queryFn: () => readName(curd, mention),
      enabled: person.isAdmin,
      staleTime: freshMs,
    })),
  }).map(({ data }) => data ?? null);
}
