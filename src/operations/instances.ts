/** The server processes of a shop. Each writes a row once a minute. */
import { hostname } from 'node:os';
import { type Clock, timestamp } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { administrationQueries, type InstanceRow } from './queries.ts';

/** An instance without a sign for this time is not listed. */
const seenWithinMs = 180_000;
/** More instances than a shop has, in case rows of killed processes were not deleted. */
const listedMax = 100;

export interface Instance {
  readonly id: string;
  readonly version: string;
  readonly startedAt: string;
  readonly seenAt: string;
}

export interface Instances {
  readonly id: string;
  readonly version: string;
  readonly startedAt: string;
  /** Writes the row of this process, and deletes those of processes that were killed. */
  report(): Promise<void>;
  /** All running instances, this one included. */
  list(): Promise<Instance[]>;
  /** Deletes the row of this process. */
  stop(): Promise<void>;
}

export function createInstances(database: Database, clock: Clock, version: string): Instances {
  const startedAt = timestamp(clock.now());
  // Host names identify machines for operators; containers can have the same one.
  const id = `${hostname().slice(0, 60)}-${Buffer.from(clock.random(3)).toString('hex')}`;
  const queries = administrationQueries(database);
  const own = (): InstanceRow => ({ id, version, started_at: startedAt, seen_at: timestamp(clock.now()) });
  let isReported = false;

  return {
    id,
    version,
    startedAt,
    async report() {
      isReported = true;
      await queries.upsertInstance(own());
      await queries.deleteInstancesBefore(timestamp(clock.now() - seenWithinMs));
    },
    async list() {
      const since = timestamp(clock.now() - seenWithinMs);
      const others = (await queries.listInstances(since, listedMax)).filter((row) => row.id !== id);
      return [own(), ...others].map((row) => ({
        id: row.id,
        version: row.version,
        startedAt: row.started_at,
        seenAt: row.seen_at,
      }));
    },
    async stop() {
      if (isReported) {
        await queries.deleteInstance(id);
      }
    },
  };
}
