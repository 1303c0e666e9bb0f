/** What a server has done and has to do, in the text format of Prometheus (version 0.0.4). */
import type { FastifyRequest } from 'fastify';
import type { MaybePromise } from '../maybe-promise.ts';

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Seconds, up to which requests are counted together. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Requests of one route with one status. */
interface HistogramSeries {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly labels: string;
  requests: number;
  seconds: number;
  /** Requests by the first bound that they kept; the last is for those that kept none. */
  readonly byBound: number[];
}

/** A figure that is asked for when somebody looks. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** One value, or several by what is in their labels: `{status="placed"}`. */
  readonly read: () => MaybePromise<number | Readonly<Record<string, number>>>;
}

/** How many requests of one route got one status since the start. */
export interface RequestCount {
  readonly key: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly requests: number;
}

export interface Metrics {
  /** Counts a request that was answered, or whose answer has begun. */
  record(request: FastifyRequest, status: number, milliseconds: number): void;
  /** All requests so far. There are as many entries as pairs of a route and a status. */
  requests(): RequestCount[];
  /** Everything, as it is now. */
  render(figures: readonly MetricDefinition[]): Promise<string>;
}

export function createMetrics(): Metrics {
  const tallies = new Map<string, HistogramSeries>();

  function tallyOf(method: string, route: string, status: number): HistogramSeries {
    const key = `${method} ${route} ${status}`;
    const known = tallies.get(key);
    if (known !== undefined) {
      return known;
    }
    const labels = `method="${method}",route="${route}",status="${status}"`;
    const byBound = Array(bounds.length + 1).fill(0);
    const tally = { method, route, status, labels, requests: 0, seconds: 0, byBound };
    tallies.set(key, tally);
    return tally;
  }

  return {
    record(request, status, milliseconds) {
      // Of addresses that are none, and of methods that nobody knows, there is no end.
      const route = request.routeOptions.url ?? 'none';
      const tally = tallyOf(route === 'none' ? 'any' : request.method, route, status);
      const seconds = milliseconds / 1000;
      const bound = bounds.findIndex((one) => seconds <= one);
      const place = bound < 0 ? bounds.length : bound;
      tally.requests += 1;
      tally.seconds += seconds;
      tally.byBound[place] = (tally.byBound[place] ?? 0) + 1;
    },

    requests: () =>
      [...tallies].map(([key, { method, route, status, requests }]) => ({
        key,
        method,
        route,
        status,
        requests,
      })),

    async render(figures) {
      const lines = [
        '# HELP curd_http_request_duration_seconds Requests, and how long it took until the answer began.',
      ];
      lines.push('# TYPE curd_http_request_duration_seconds histogram');
      for (const tally of tallies.values()) {
        lines.push(...histogram('curd_http_request_duration_seconds', tally));
      }
      for (const { name, help, type, read } of figures) {
        const value = await read();
        const values = typeof value === 'number' ? { '': value } : value;
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
        lines.push(...Object.entries(values).map(([labels, one]) => `${name}${labels} ${one}`));
      }
      return `${lines.join('\n')}\n`;
    },
  };
}

function histogram(name: string, { labels, requests, seconds, byBound }: HistogramSeries): string[] {
  let soFar = 0;
  const buckets = bounds.map((bound, place) => {
    soFar += byBound[place] ?? 0;
    return `${name}_bucket{${labels},le="${bound}"} ${soFar}`;
  });
  return [
    ...buckets,
    `${name}_bucket{${labels},le="+Inf"} ${requests}`,
    `${name}_sum{${labels}} ${seconds}`,
    `${name}_count{${labels}} ${requests}`,
  ];
}
