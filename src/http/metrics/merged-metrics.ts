/** The metrics of several processes as one text, in which the label `worker` says whose each value is. */

interface Family {
  readonly head: string[];
  readonly samples: string[];
}

/** @param texts of /metrics, by the number of the process */
export function mergeMetrics(texts: ReadonlyMap<number, string>): string {
  const families = new Map<string, Family>();
  for (const [number, text] of texts) {
    let family: Family = { head: [], samples: [] };
    for (const line of text.split('\n')) {
      const [, keyword, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (keyword !== undefined) {
        family = families.get(name) ?? { head: [], samples: [] };
        families.set(name, family);
        if (!family.head.includes(line)) {
          family.head.push(line);
        }
      } else if (line !== '') {
        family.samples.push(withLabel(line, `worker="${number}"`));
      }
    }
  }
  // All values of a metric are together, as the format requires.
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${lines.join('\n')}\n`;
}

function withLabel(sample: string, label: string): string {
  return sample.replace(/^(\w+)(?:\{(.*)\})? /, (_, name, labels) =>
    labels === undefined ? `${name}{${label}} ` : `${name}{${label},${labels}} `,
  );
}
