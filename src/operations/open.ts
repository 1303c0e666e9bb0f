/** Opens the operation of a shop: its state for operators, its processes, metrics of the process and the database. */
import type { CurrentIndex } from '../cheeses/search-index/current-index.ts';
import { databaseSize, findBackupTime } from '../database/checks/state.ts';
import type { Database } from '../database/database.ts';
import { type DiskSpace, listStorageFolders, readDiskSpace } from '../files/disk-space.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { byLabel, cachedFor, counter, gauge, type MetricDefinition } from '../http/metrics/metrics.ts';
import type { Loop, Loops } from '../jobs/loops.ts';
import { createInstances } from './instances.ts';
import { listDoctorRuns } from './integrity.ts';
import type { NameDependencies } from './names.ts';
import { createReadiness } from './readiness.ts';
import { administrationRoutes } from './routes.ts';
import type { StatusDependencies } from './status.ts';

/** The maximum age of the size in the metrics: PostgreSQL reads the size of every file of the database. */
const sizeFreshMs = 60_000;

interface Dependencies
  extends AreaDependencies,
    Omit<StatusDependencies, 'config' | 'instances'>,
    NameDependencies {
  readonly catalogueIndex: CurrentIndex;
}

export function openOperations(dependencies: Dependencies) {
  const { database, config, catalogueIndex } = dependencies;
  const instances = createInstances(dependencies);
  return {
    provides: { instance: instances.id },
    instances,
    /** The health check of load balancers. @throws AppError unavailable */
    requireReady: createReadiness(config, database, catalogueIndex),
    routes: administrationRoutes({ ...dependencies, instances }),
    tasks: [instances.report],
    gauges: [
      ...createGauges(dependencies),
      ...createLoopGauges(dependencies.loops),
      ...createCareGauges(database),
    ],
    checks: [{ name: 'instances', run: instances.checkImageStorage }],
    start: instances.report,
    close: instances.stop,
  } satisfies Area;
}

function createLoopGauges(loops: Loops): MetricDefinition[] {
  const read = (value: (loop: Loop) => number | null) => () =>
    byLabel('loop', Object.fromEntries(loops.list().map((loop) => [loop.name, (value(loop) ?? 0) / 1000])));
  return [
    counter('curd_loop_failures_total', 'Runs of background loops that failed.', () =>
      byLabel('loop', Object.fromEntries(loops.list().map(({ name, failures }) => [name, failures]))),
    ),
    gauge(
      'curd_loop_last_run_timestamp_seconds',
      'End of the last run of each background loop, 0 before the first.',
      read(({ lastRunAt }) => lastRunAt),
    ),
    gauge(
      'curd_loop_last_run_seconds',
      'Duration of the last run of each background loop, 0 before the first.',
      read(({ lastRunMs }) => lastRunMs),
    ),
  ];
}

/** What operators do regularly, as times: an alert compares them with its own clock. */
function createCareGauges(database: Database): MetricDefinition[] {
  const secondsOf = (time: string | null | undefined) => (time ? Date.parse(time) / 1000 : 0);
  return [
    gauge(
      'curd_last_backup_timestamp_seconds',
      'Time of the last backup by Curd, 0 before the first; not on PostgreSQL, which has its own.',
      async () => (database.hasOneServer ? secondsOf(await findBackupTime(database)) : {}),
    ),
    gauge(
      'curd_last_doctor_timestamp_seconds',
      'Time of the last consistency check of the data, 0 before the first.',
      async () => secondsOf((await listDoctorRuns(database, 1))[0]?.at),
    ),
    gauge(
      'curd_doctor_faults',
      'Faults that the last consistency check found.',
      async () => (await listDoctorRuns(database, 1))[0]?.faults ?? 0,
    ),
  ];
}

function createGauges({ database, clock, config, version }: AreaDependencies): MetricDefinition[] {
  const { environment } = config;
  const folders = listStorageFolders(config);
  const space = (read: (one: DiskSpace) => number) => async () => {
    const spaces = await readDiskSpace(folders);
    return Object.fromEntries(spaces.map((space) => [`{folder="${space.folder}"}`, read(space)]));
  };
  return [
    counter(
      'curd_database_operations_total',
      'Commits on SQLite; statements and transactions on PostgreSQL.',
      () => database.stats().done,
    ),
    counter('curd_database_seconds_total', 'Time that these took.', () => database.stats().seconds),
    gauge(
      'curd_database_waiting',
      'Statements and transactions that wait for the database.',
      () => database.stats().waiting,
    ),
    gauge(
      'curd_database_size_bytes',
      'Size of the database, read every 60 seconds at most.',
      cachedFor(clock, sizeFreshMs, () => databaseSize(database)),
    ),
    gauge(
      'curd_disk_free_bytes',
      'Free space of the disk with the folder.',
      space(({ freeBytes }) => freeBytes),
    ),
    gauge(
      'curd_disk_total_bytes',
      'Size of the disk with the folder.',
      space(({ totalBytes }) => totalBytes),
    ),
    gauge('curd_build_info', 'Always 1; the labels name the version, engine and environment.', () => ({
      [`{version="${version}",node="${process.versions.node}",engine="${database.engine}",environment="${environment}"}`]: 1,
    })),
    gauge('process_resident_memory_bytes', 'Memory of this process.', () => process.memoryUsage.rss()),
    counter('process_cpu_seconds_total', 'Processor time of this process.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
    gauge(
      'process_start_time_seconds',
      'Start time of this process, since the epoch.',
      () => Math.round(performance.timeOrigin) / 1000,
    ),
  ];
}
