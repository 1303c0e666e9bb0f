/** Which methods an address takes: for 405, for `Allow`, and for literal segments that win over parameters. */

interface Registered {
  readonly method: string;
  readonly path: string;
}

interface Address {
  readonly path: string;
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

export interface Addresses {
  /** Methods of the most literal address that matches a raw path, OPTIONS included; empty where there is none. */
  methodsOf(rawPath: string): string[];
  /** Literal addresses that a parameter of another method would swallow: they must answer 405 themselves. */
  shadowed(): Registered[];
}

/** Knows every registered route, `:name` standing for one segment. */
export function createAddresses(routes: readonly Registered[]): Addresses {
  const addresses = new Map<string, Address>();
  for (const { method, path } of routes) {
    const address = addresses.get(path) ?? { path, pattern: patternOf(path), methods: new Set(['OPTIONS']) };
    address.methods.add(method);
    addresses.set(path, address);
  }
  // Fewer parameters first, so that the first match is the most literal one.
  const ordered = [...addresses.values()].sort((a, b) => parametersIn(a.path) - parametersIn(b.path));

  return {
    methodsOf(rawPath) {
      const path = rawPath.length > 1 ? rawPath.replace(/\/$/, '') : rawPath;
      return [...(ordered.find(({ pattern }) => pattern.test(path))?.methods ?? [])].sort();
    },
    shadowed() {
      return ordered
        .filter(({ path }) => parametersIn(path) === 0)
        .flatMap((literal) =>
          ordered
            .filter(({ path, pattern }) => parametersIn(path) > 0 && pattern.test(literal.path))
            .flatMap(({ methods }) => [...methods])
            .filter((method) => !literal.methods.has(method) && method !== 'OPTIONS')
            .map((method) => ({ method, path: literal.path })),
        );
    },
  };
}

function patternOf(path: string): RegExp {
  const source = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+');
  return new RegExp(`^${source}$`);
}

function parametersIn(path: string): number {
  return path.split('/:').length - 1;
}
