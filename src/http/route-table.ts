/** Which methods an address takes: for 405, for `Allow`, and for literal segments that win over parameters. */

interface Registered {
  readonly method: string;
  readonly path: string;
}

interface Address {
  readonly path: string;
  /** Decoded segments; null stands for a parameter. */
  readonly segments: readonly (string | null)[];
  readonly methods: Set<string>;
}

export interface RouteTable {
  /** Methods of the most literal address that matches a raw path, OPTIONS included; empty where there is none. */
  methodsOf(rawPath: string): string[];
  /** Literal addresses that a parameter of another method would swallow: they must answer 405 themselves. */
  shadowed(): Registered[];
}

/** Knows every registered route, `:name` standing for one segment. */
export function createRouteTable(routes: readonly Registered[]): RouteTable {
  const addresses = new Map<string, Address>();
  for (const { method, path } of routes) {
    const segments = path.split('/').map((segment) => (segment.startsWith(':') ? null : segment));
    const address = addresses.get(path) ?? { path, segments, methods: new Set(['OPTIONS']) };
    address.methods.add(method);
    addresses.set(path, address);
  }
  // Fewer parameters first, so that the first match is the most literal one.
  const ordered = [...addresses.values()].sort((a, b) => parametersIn(a) - parametersIn(b));

  return {
    methodsOf(rawPath) {
      const path = rawPath.length > 1 ? rawPath.replace(/\/$/, '') : rawPath;
      const segments = path.split('/').map(decoded);
      return [...(ordered.find((address) => matches(address, segments))?.methods ?? [])].sort();
    },
    shadowed() {
      const literals = ordered.filter((address) => parametersIn(address) === 0);
      return literals.flatMap((literal) => {
        const swallowing = ordered.filter(
          (address) => parametersIn(address) > 0 && matches(address, literal.path.split('/')),
        );
        const methods = new Set(swallowing.flatMap((address) => [...address.methods])).difference(
          literal.methods,
        );
        return [...methods].map((method) => ({ method, path: literal.path }));
      });
    },
  };
}

function matches({ segments }: Address, given: readonly (string | null)[]): boolean {
  return (
    segments.length === given.length &&
    segments.every((segment, index) => (segment === null ? Boolean(given[index]) : segment === given[index]))
  );
}

/** One segment decoded once; null where it is not validly encoded. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function parametersIn({ segments }: Address): number {
  return segments.filter((segment) => segment === null).length;
}
