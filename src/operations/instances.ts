/** The server processes (instances) of a shop. Each writes a row once a minute; a dead instance has an old one. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, machineTime, timestamp } from '../clock.ts';
import { Findings } from '../database/checks/findings.ts';
import type { Database } from '../database/database.ts';
import type { Config } from '../settings/config.ts';
import { ConfigError } from '../settings/parsers.ts';
import { administrationQueries, type InstanceRow } from './queries.ts';

/** An instance that has not written its row for this time counts as dead: it is not listed, and its row is deleted. */
const seenWithinMs = 180_000;
const remedy = 'Set CURD_IMAGES of all instances to the same bucket, or to a folder that they share';
/** More instances than a shop has, in case rows of killed processes were not deleted. */
const listedMax = 100;
/** Stored in the folder of images. */
const identityFile = 'storage-id';

export interface Instance {
  readonly id: string;
  readonly version: string;
  readonly startedAt: string;
  readonly seenAt: string;
}

export type Instances = ReturnType<typeof createInstances>;

interface Dependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly config: Config;
  readonly version: string;
}

export function createInstances({ database, clock, config, version }: Dependencies) {
  const startedAt = timestamp(machineTime(clock));
  // Host names identify machines for operators; containers can have the same one.
  const id = `${hostname().slice(0, 60)}-${Buffer.from(clock.random(3)).toString('hex')}`;
  const queries = administrationQueries(database);
  let isReported = false;

  async function own(): Promise<InstanceRow> {
    // One server needs none, and one that cannot store images starts all the same.
    const images = database.hasOneServer ? '' : await readStorageIdentity(config, clock).catch(() => '');
    return { id, version, started_at: startedAt, seen_at: timestamp(machineTime(clock)), images };
  }

  async function listOthers(): Promise<InstanceRow[]> {
    const since = timestamp(machineTime(clock) - seenWithinMs);
    return (await queries.listInstances(since, listedMax)).filter((row) => row.id !== id);
  }

  /** Instances that run and store images elsewhere. On SQLite there is one server, and the row may be of a killed one. */
  async function listStoringElsewhere(): Promise<string[]> {
    if (database.hasOneServer) {
      return [];
    }
    const { images } = await own();
    const isElsewhere = (other: InstanceRow) => ![images, ''].includes(other.images);
    return images === '' ? [] : (await listOthers()).filter(isElsewhere).map((other) => other.id);
  }

  return {
    id,
    version,
    startedAt,
    /** Writes the row of this process, and deletes those of processes that were killed. */
    async report() {
      isReported = true;
      await queries.upsertInstance(await own());
      await queries.deleteInstancesBefore(timestamp(machineTime(clock) - seenWithinMs));
    },
    /** All running instances, this one included. */
    async list() {
      return [await own(), ...(await listOthers())].map((row) => ({
        id: row.id,
        version: row.version,
        startedAt: row.started_at,
        seenAt: row.seen_at,
      }));
    },
    /**
     * Called before a server listens.
     * @throws ConfigError if another instance stores its images elsewhere: neither would find those of the other
     */
    async requireSharedImages() {
      const [other] = await listStoringElsewhere();
      if (other !== undefined) {
        throw new ConfigError(
          `The instance ${other} of this shop stores its images elsewhere, so each would miss those of the other. ${remedy}.`,
        );
      }
    },
    /** Finds instances that store images elsewhere. */
    async checkImageStorage() {
      const elsewhere = new Findings(
        'instances that do not store images where CURD_IMAGES says here',
        remedy,
      );
      for (const other of await listStoringElsewhere()) {
        elsewhere.add(other);
      }
      return elsewhere.found();
    },
    /** Deletes the row of this process. */
    async stop() {
      if (isReported) {
        await queries.deleteInstance(id);
      }
    },
  };
}

/**
 * Which storage of images a process uses: the URL of a bucket, or an id that is stored in the folder, because instances on
 * several machines can share a folder that has another path on each.
 */
async function readStorageIdentity({ images }: Pick<Config, 'images'>, clock: Clock): Promise<string> {
  if (images.kind !== 'folder') {
    return `s3://${images.bucket}/${images.prefix}`;
  }
  const file = join(images.folder, identityFile);
  await mkdir(images.folder, { recursive: true });
  // Fails if the file exists: of several processes that start at once, one writes it.
  await writeFile(file, clock.uuid(), { flag: 'wx', mode: 0o600, flush: true }).catch((error) => {
    if (error.code !== 'EEXIST') {
      throw error;
    }
  });
  return readFile(file, 'utf8');
}
