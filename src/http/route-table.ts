/** Which methods a path has: for 405, for `Allow`, and for literal segments that take precedence over parameters. */

interface Registered {
  readonly method: string;
  readonly path: string;
}

interface PathEntry {
  readonly path: string;
  /** Decoded segments; null is a parameter. */
  readonly segments: readonly (string | null)[];
  /** The path ends with `*`: one or more segments follow. */
  readonly isOpen: boolean;
  readonly methods: Set<string>;
}

export type RouteTable = ReturnType<typeof createRouteTable>;

/** A table of all registered routes. `:name` in a path is a parameter of one segment, and `*` at its end of several. */
export function createRouteTable(routes: readonly Registered[]) {
  const entries = new Map<string, PathEntry>();
  for (const { method, path } of routes) {
    const isOpen = path.endsWith('/*');
    const literal = isOpen ? path.slice(0, -2) : path;
    const segments = literal.split('/').map((segment) => (segment.startsWith(':') ? null : segment));
    const entry = entries.get(path) ?? { path, segments, isOpen, methods: new Set(['OPTIONS']) };
    entry.methods.add(method);
    entries.set(path, entry);
  }
  // Fewer parameters first, so that the first match is the most literal one.
  const ordered = [...entries.values()].sort((a, b) => parametersIn(a) - parametersIn(b));
  const segmentsMax = Math.max(0, ...ordered.map(({ segments }) => segments.length));

  return {
    /** Methods of the most literal path that matches a raw path, with OPTIONS; empty when none matches. */
    methodsOf(rawPath: string) {
      const path = rawPath.length > 1 ? rawPath.replace(/\/$/, '') : rawPath;
      const raw = path.split('/', segmentsMax + 1);
      // Decoding fails slowly: a path of thousands of malformed segments would block the event loop.
      const segments = raw.slice(0, segmentsMax).map(decoded);
      const isLonger = raw.length > segmentsMax;
      const found = ordered.find((entry) => matches(entry, segments, isLonger));
      return [...(found?.methods ?? [])].sort();
    },
    /** Literal paths that a parameter of another method also matches. They need routes that return 405. */
    shadowed() {
      const literals = ordered.filter((entry) => parametersIn(entry) === 0);
      const patterns = ordered.slice(literals.length);
      return literals.flatMap((literal) => {
        const shadowing = patterns.filter((entry) => matches(entry, literal.segments));
        const methods = new Set(shadowing.flatMap((entry) => [...entry.methods])).difference(literal.methods);
        return [...methods].map((method) => ({ method, path: literal.path }));
      });
    },
  };
}

/** @param isLonger more segments follow than are given */
function matches(
  { segments, isOpen }: PathEntry,
  given: readonly (string | null)[],
  isLonger = false,
): boolean {
  const hasMore = isLonger || given.length > segments.length;
  return (
    hasMore === isOpen &&
    segments.length <= given.length &&
    segments.every((segment, index) => (segment === null ? Boolean(given[index]) : segment === given[index]))
  );
}

/** A decoded segment; null when it is not validly encoded. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** The rest of an open path counts most: it matches after everything else. */
function parametersIn({ segments, isOpen }: PathEntry): number {
  return segments.filter((segment) => segment === null).length + (isOpen ? 100 : 0);
}
