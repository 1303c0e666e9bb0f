/** Metrics in the text format of Prometheus (version 0.0.4). */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { MaybePromise } from '../../maybe-promise.ts';

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Upper bounds of the histogram buckets, in seconds. */
const bucketBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Requests of one route with one status. */
interface HistogramSeries {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly labels: string;
  requests: number;
  seconds: number;
  /** Requests by the smallest bound that they did not exceed; the last element is for those that exceeded all. */
  readonly byBound: number[];
}

/** A metric whose value is read when /metrics is requested. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** One value, or several by their labels: `{status="placed"}`. */
  readonly read: () => MaybePromise<number | Readonly<Record<string, number>>>;
}

type Read = MetricDefinition['read'];

/** A metric that rises and falls. */
export function gauge(name: string, help: string, read: Read): MetricDefinition {
  return { name, help, type: 'gauge', read };
}

/** A metric that only rises. */
export function counter(name: string, help: string, read: Read): MetricDefinition {
  return { name, help, type: 'counter', read };
}

/** Values of a metric by one label. */
export function byLabel(label: string, values: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([value, count]) => [`{${label}="${value}"}`, count]));
}

/** Reads a value again when the last one is too old. */
export function cachedFor<T>(clock: Clock, freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: T } | null = null;
  return async () => {
    if (last === null || clock.now() - last.at >= freshMs) {
      last = { at: clock.now(), value: await read() };
    }
    return last.value;
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Counts requests; `render` adds the metrics that it is given. */
export function createMetrics() {
  const definitions: MetricDefinition[] = [];
  let gather: ((own: string) => Promise<string>) | undefined;
  const allSeries = new Map<string, HistogramSeries>();

  function seriesOf(method: string, route: string, status: number): HistogramSeries {
    const key = `${method} ${route} ${status}`;
    const known = allSeries.get(key);
    if (known !== undefined) {
      return known;
    }
    const labels = `method="${method}",route="${route}",status="${status}"`;
    const byBound = Array(bucketBounds.length + 1).fill(0);
    const series = { method, route, status, labels, requests: 0, seconds: 0, byBound };
    allSeries.set(key, series);
    return series;
  }

  return {
    /** Counts a request whose response was sent or has begun. */
    record(request: FastifyRequest, status: number, milliseconds: number) {
      // Clients choose unknown paths and methods: a series for each would need unbounded memory.
      const route = request.routeOptions.url ?? 'none';
      const series = seriesOf(route === 'none' ? 'any' : request.method, route, status);
      const seconds = milliseconds / 1000;
      const bound = bucketBounds.findIndex((bucketBound) => seconds <= bucketBound);
      const place = bound < 0 ? bucketBounds.length : bound;
      series.requests += 1;
      series.seconds += seconds;
      series.byBound[place] = (series.byBound[place] ?? 0) + 1;
    },

    /** All requests so far. There are as many entries as pairs of a route and a status. */
    requests: () =>
      [...allSeries].map(([key, { method, route, status, requests }]) => ({
        key,
        method,
        route,
        status,
        requests,
      })),

    /** Adds metrics to the text. */
    add: (more: readonly MetricDefinition[]) => definitions.push(...more),

    /** The text of /metrics. */
    async renderAll() {
      const own = await render();
      return gather === undefined ? own : gather(own);
    },

    /** Makes `renderAll` return what `gather` makes of the text of this process. */
    gatherWith(given: (own: string) => Promise<string>) {
      gather = given;
    },

    render,
  };

  /** The metrics of this process as text. */
  async function render(): Promise<string> {
    const lines = [
      '# HELP curd_http_request_duration_seconds Requests, by the time until their response began.',
    ];
    lines.push('# TYPE curd_http_request_duration_seconds histogram');
    for (const series of allSeries.values()) {
      lines.push(...histogram('curd_http_request_duration_seconds', series));
    }
    for (const { name, help, type, read } of definitions) {
      const value = await read();
      const values = typeof value === 'number' ? { '': value } : value;
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      lines.push(...Object.entries(values).map(([labels, one]) => `${name}${labels} ${one}`));
    }
    return `${lines.join('\n')}\n`;
  }
}

function histogram(name: string, { labels, requests, seconds, byBound }: HistogramSeries): string[] {
  let cumulative = 0;
  const buckets = bucketBounds.map((bound, place) => {
    cumulative += byBound[place] ?? 0;
    return `${name}_bucket{${labels},le="${bound}"} ${cumulative}`;
  });
  return [
    ...buckets,
    `${name}_bucket{${labels},le="+Inf"} ${requests}`,
    `${name}_sum{${labels}} ${seconds}`,
    `${name}_count{${labels}} ${requests}`,
  ];
}
