/** The filters of a list are in the URL: it can be bookmarked and sent, and a person who comes back finds them. */
import { useSearchParams } from 'wouter';
import { readId } from './text/ids.ts';

/** Reads the values of a parameter. One that the API would refuse is left out, so that a URL written by hand opens the list. */
type Reader<T> = (values: readonly string[]) => T | undefined;
type Readers = Readonly<Record<string, Reader<unknown>>>;
export type Filters<R extends Readers> = { readonly [Name in keyof R]?: ReturnType<R[Name]> };
type Written = string | number | boolean | readonly string[] | null | undefined;
export type Changes<R extends Readers> = { readonly [Name in keyof R]?: Written };

export const asText =
  (lengthMax = 200): Reader<string> =>
  ([text = '']) =>
    text.trim().slice(0, lengthMax) || undefined;

export const asId: Reader<number> = ([text]) => readId(text);

export const asNumber: Reader<number> = ([text = '']) =>
  text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);

export const asFlag: Reader<boolean> = ([text]) =>
  text === 'true' ? true : text === 'false' ? false : undefined;

export const asOneOf =
  <T extends string>(values: readonly T[]): Reader<T> =>
  ([text]) =>
    values.find((value) => value === text);

/** Several texts, each a parameter of this name. */
export const asTexts: Reader<string[]> = (texts) => nonEmpty(texts.filter((text) => text !== ''));

/** Several of some values: with commas, or each a parameter of this name. */
export const asSomeOf =
  <T extends string>(values: readonly T[]): Reader<T[]> =>
  (texts) => {
    const wanted = texts.flatMap((text) => text.split(','));
    return nonEmpty(values.filter((value) => wanted.includes(value)));
  };

const nonEmpty = <T>(values: T[]): T[] | undefined => (values.length === 0 ? undefined : values);

/** @returns the filters that are set */
export function readFilters<R extends Readers>(readers: R, search: URLSearchParams): Filters<R> {
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(search.getAll(name))] as const);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as Filters<R>;
}

/** A null, an empty text or an empty list removes a filter. Other parameters stay. */
export function withFilters<R extends Readers>(
  search: URLSearchParams,
  changes: Changes<R>,
): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries<Written>(changes)) {
    next.delete(name);
    for (const one of [value ?? []].flat()) {
      if (one !== '') {
        next.append(name, String(one));
      }
    }
  }
  return next;
}

/**
 * The filters of the URL, and how to change some of them.
 * @param history whether Back returns to the filters before
 */
export function useUrlFilters<R extends Readers>(readers: R, history: 'push' | 'replace' = 'replace') {
  const [search, setSearch] = useSearchParams();
  const filters = readFilters(readers, search);
  function change(changes: Changes<R>): void {
    setSearch((before) => withFilters(before, changes), { replace: history === 'replace' });
  }
  return { filters, change, isFiltered: Object.keys(filters).length > 0 };
}

/** One parameter of the URL, such as the entry that is open beside a list: Back closes it. */
export function useUrlValue<T>(name: string, reader: Reader<T>, history: 'push' | 'replace' = 'push') {
  const { filters, change } = useUrlFilters({ [name]: reader }, history);
  return [filters[name] as T | undefined, (value: Written) => change({ [name]: value })] as const;
}
