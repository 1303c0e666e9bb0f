/**
 * Facets: the values of categories, tags, origins, organic and status, and how many cheeses have each. Every facet is
 * counted under all filters but its own, exactly, or not at all where that would take long.
 */
import { forEachBlock } from '../blocks.ts';
import { createCache } from '../database/cache.ts';
import type { Database } from '../database/database.ts';
import type { Filters } from './list-query.ts';
import { type MatchReader, termWithTotal } from './match-reader.ts';
import { namesAfter } from './names.ts';
import { navigationQueries } from './navigation-queries.ts';
import type { FacetName } from './navigation-schemas.ts';
import { planMatching } from './read-plan.ts';
import type { Status } from './schemas.ts';

/** With more matches under other filters, counting takes longer than 20 ms at a million cheeses. */
const countedMax = 2000;
const valuesMax = 100;
/** Cheeses or terms that one statement reads: 2 to 5 ms. */
const rowsAtOnce = 500;
const facetsBytesMax = 4 * 1024 * 1024;

interface FacetValue {
  readonly value: string;
  readonly count: number | null;
}

export interface Facet {
  /** The most frequent first. */
  readonly values: readonly FacetValue[];
  /** How many values follow. */
  readonly more: number;
}

export interface FacetReader {
  /** The facets of a list as JSON. */
  read(
    names: readonly FacetName[],
    filters: Filters,
    words: readonly string[],
    version: number,
  ): Promise<string>;
}

/** A value and its spelling: values that are equal without case and accents are one. */
interface Counted {
  readonly key: string;
  readonly name: string;
  readonly count: number;
}

const termKinds = { category: 'category', tags: 'tag', origin: 'origin', organic: 'organic' } as const;

export function createFacetReader(database: Database, matches: MatchReader): FacetReader {
  const queries = navigationQueries(database);
  /** Facets as JSON, because the cache counts bytes of texts. */
  const facets = createCache<string>(facetsBytesMax);

  /** From counters. The cost does not depend on the number of cheeses. */
  async function countAll(name: FacetName, statuses: readonly Status[] | null, term = 0): Promise<Facet> {
    if (name === 'status') {
      return toFacet((await queries.countTerm(term)).map(({ status, cheeses }) => plain(status, cheeses)));
    }
    if (name === 'organic') {
      const rows = await queries.countOrganic(statuses);
      return toFacet(rows.map(({ name: value, cheeses }) => plain(value, cheeses)));
    }
    const kind = termKinds[name];
    let counted: Counted[] = [];
    let dropped = 0;
    for await (const names of namesAfter(database, { kind, prefix: '', statuses }, null, rowsAtOnce)) {
      // Spellings of one value follow each other: the last value may continue in the next part.
      counted.push(...names.map((one) => toCounted(name, one.name, one.folded, one.cheeses)));
      const last = counted.at(-1);
      const open = counted.filter(({ key }) => key === last?.key);
      const { values, more } = mostFrequent(merge(counted.filter(({ key }) => key !== last?.key)));
      counted = [...values, ...open];
      dropped += more;
    }
    const { values, more } = mostFrequent(merge(counted));
    return { values: values.map(({ name: value, count }) => ({ value, count })), more: more + dropped };
  }

  /** From the matches themselves. */
  async function countMatches(name: FacetName, ids: readonly number[]): Promise<Facet> {
    const counts = new Map<string, number>();
    await forEachBlock(ids, rowsAtOnce, async (block) => {
      for (const { status, terms } of await queries.listFacetValues(block)) {
        for (const one of name === 'status' ? [status] : terms.split(',')) {
          counts.set(one, (counts.get(one) ?? 0) + 1);
        }
      }
    });
    if (name === 'status') {
      return toFacet([...counts].map(([status, count]) => plain(status, count)));
    }
    const counted: Counted[] = [];
    await forEachBlock([...counts.keys()].map(Number), rowsAtOnce, async (block) => {
      for (const term of await queries.listTerms(block)) {
        if (term.kind === termKinds[name]) {
          counted.push(toCounted(name, term.name, term.folded, counts.get(String(term.id)) ?? 0));
        }
      }
    });
    return toFacet(counted);
  }

  async function count(
    name: FacetName,
    filters: Filters,
    words: readonly string[],
    version: number,
  ): Promise<Facet> {
    const { statuses = null } = filters;
    const known = await matches.know(filters, words, version);
    const hasRange = Object.keys(known.ranges).length > 0;
    if (known.groups.some(({ cheeses }) => cheeses === 0)) {
      return toFacet([]);
    }
    const term = termWithTotal(known.groups, known.ranges);
    if (name === 'status' ? term !== null : known.groups.length === 0 && !hasRange) {
      return countAll(name, statuses, term ?? 0);
    }
    const atMost = Math.min(
      ...known.groups.map(({ cheeses }) => cheeses),
      ...known.inRanges.map((range) => range.atMost),
    );
    const isCounted =
      atMost <= countedMax || (term === null && (await matches.count(filters, known, version)) <= countedMax);
    const ids = isCounted
      ? await matches.list(filters, planMatching(known).matching, version, countedMax)
      : null;
    if (ids !== null) {
      return countMatches(name, ids);
    }
    const { values, more } = await countAll(name, statuses);
    return { values: values.map(({ value }) => ({ value, count: null })), more };
  }

  return {
    async read(names, filters, words, version) {
      const members: string[] = [];
      for (const name of names) {
        const others = withoutOwn(name, filters);
        const key = `${version} ${name} ${JSON.stringify(others)}`;
        const known = facets.get(key) ?? JSON.stringify(await count(name, others, words, version));
        facets.set(key, known);
        members.push(`${JSON.stringify(name)}:${known}`);
      }
      return `{${members.join(',')}}`;
    },
  };
}

/** All filters but those of the facet, so that a shopper sees what another value would give. */
function withoutOwn(name: FacetName, filters: Filters): Filters {
  const own: Readonly<Record<FacetName, readonly (keyof Filters)[]>> = {
    category: ['category', 'categoryId'],
    tags: ['tags'],
    origin: ['origin'],
    organic: ['organic'],
    status: ['statuses'],
  };
  return Object.fromEntries(
    Object.entries(filters).filter(([filter]) => !own[name].includes(filter as keyof Filters)),
  );
}

const plain = (name: string, count: number): Counted => ({ key: name, name, count });

/** Categories and origins are compared without case and accents, tags exactly. */
function toCounted(facet: FacetName, name: string, folded: string | null, count: number): Counted {
  return { key: facet === 'tags' ? name : (folded ?? name), name, count };
}

/** Adds up the spellings of each value. Its name is the most frequent spelling, or the first by code point. */
function merge(counted: readonly Counted[]): Counted[] {
  return [...Map.groupBy(counted, ({ key }) => key)].map(([key, spellings]) => ({
    key,
    name: spellings.toSorted(byCount)[0]?.name ?? '',
    count: spellings.reduce((sum, { count }) => sum + count, 0),
  }));
}

function byCount(one: Counted, other: Counted): number {
  return other.count - one.count || Buffer.compare(Buffer.from(one.name), Buffer.from(other.name));
}

function mostFrequent(counted: readonly Counted[]): { values: Counted[]; more: number } {
  const listed = counted.filter(({ count }) => count > 0).sort(byCount);
  return { values: listed.slice(0, valuesMax), more: Math.max(0, listed.length - valuesMax) };
}

function toFacet(counted: readonly Counted[]): Facet {
  const { values, more } = mostFrequent(merge(counted));
  return { values: values.map(({ name: value, count }) => ({ value, count })), more };
}
