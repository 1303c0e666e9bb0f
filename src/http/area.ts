/** What an area is opened with, and the parts that it has: each area has a file open.ts. */
import type { Clock } from '../clock.ts';
import type { Finding } from '../database/checks/findings.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Hook, Hooks } from '../hooks/hooks.ts';
import type { Loops } from '../jobs/loops.ts';
import type { JobHandler } from '../jobs/worker.ts';
import type { Log } from '../log.ts';
import type { Config } from '../settings/config.ts';
import type { MetricDefinition } from './metrics/metrics.ts';
import type { RawRoute } from './raw-routes.ts';
import type { Route } from './route.ts';

/** What pages, mails and messages say of whom they are from, as an operator describes it. */
export interface Site {
  readonly name: string;
  /** ISO 4217, with two decimals. */
  readonly currency: string;
  /** A name of the IANA database. */
  readonly timeZone: string;
  /** BCP 47. */
  readonly language: string;
}

/** What every area is opened with. */
export interface AreaDependencies {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** The loops of this process. */
  readonly loops: Loops;
  readonly database: Database;
  /** Runs what areas do when this one changes something. */
  readonly hooks: Hooks;
  /** The site, as this process last read it. */
  readonly site: () => Site;
  /** The version of Curd. */
  readonly version: string;
  /** A context for changes that no request makes. @param actor `cli` or `system` */
  contextOf(actor: string): Context;
  /** The origin of the public URL of this server; of a setting with port 0, known once the server listens. */
  issuer(): string;
  /** The public URL of a stored file; known like `issuer`. */
  fileUrl(name: string): string;
}

/** A check of `curd doctor`, in one snapshot with all others. */
export interface ConsistencyCheck {
  readonly name: string;
  /** @param now the time of the snapshot: earlier checks can take minutes, in which nothing in the snapshot changes */
  readonly run: (
    snapshot: Sql,
    onProgress: (done: number, total: number) => void,
    now: number,
  ) => Promise<Finding[]>;
}

/** The parts of an area, next to its services. Opening an area starts no background work. */
export interface Area {
  /** Services that other areas are opened with. No two areas provide one of the same name. */
  readonly provides?: Readonly<Record<string, unknown>>;
  readonly routes?: readonly Route[];
  /** Routes that write their own responses. */
  readonly rawRoutes?: readonly RawRoute[];
  /** Tasks of the maintenance. One returns true if work is left: then it runs again after the others. */
  readonly tasks?: readonly (() => Promise<unknown>)[];
  /** Metrics of its state. */
  readonly gauges?: readonly MetricDefinition[];
  /** Handlers of its background jobs. */
  readonly jobs?: readonly JobHandler[];
  readonly checks?: readonly ConsistencyCheck[];
  /** What it does in the transactions in which other areas change something. */
  readonly hooks?: readonly Hook[];
  /** Starts background work, after the server listens. @param isOnlyServer no other server has this database open */
  start?(isOnlyServer: boolean): Promise<void> | void;
  /** Ends waits of requests and background work. Called before the server closes, while the last requests run. */
  stop?(): Promise<void>;
  /** Called when no request and no job runs any more: stores what is buffered. */
  close?(): Promise<unknown>;
  /** Its services, as commands and tests use them. */
  readonly [service: string]: unknown;
}
