/** Failovers by pg_auto_failover under load. `node bench/failover/pg-auto-failover.ts --help` */

import { parseArgs } from 'node:util';
import { until } from '../../test/context.ts';
import { type Cluster, installPackages, openCluster, type PostgresNode, RefusedError } from './cluster.ts';
import { openLoad, tableOf, withCleanUp } from './load.ts';

const help = `node bench/failover/pg-auto-failover.ts [--fault <name>...] [--replication <name>...] [--orders 500] [--rounds 1]

Starts a monitor and two nodes of pg_auto_failover on this machine, and two instances of Curd that get orders. Then the
primary fails, the tool promotes the standby, and the primary comes back. Prints a table of what that cost.

--fault        crash: all processes of the primary are killed
               postgres: only its PostgreSQL is killed, and the tool starts it again
               stop: pg_autoctl stop
               freeze: its processes stop, so that it is silent as when its network fails; later they continue
               switchover: pg_autoctl perform switchover
               Without it, all of them.
--replication  asynchronous or synchronous. Without it, both.
--orders       how many orders each instance confirms before the fault

Needs Debian 12 and root, to install the packages pg-auto-failover-cli and postgresql-15-auto-failover; where they are
installed, any user can run it. It removes what it has made and installed. A run takes about two minutes.
`;

const replications = ['asynchronous', 'synchronous'] as const;
const promotionMs = 300_000;

interface Fault {
  begin(primary: PostgresNode, cluster: Cluster): Promise<void> | void;
  /** The primary comes back. */
  end?(primary: PostgresNode): void;
  /** The primary itself accepts writes again. */
  readonly isRestart?: boolean;
}

const faults: Record<string, Fault> = {
  crash: { begin: (primary) => primary.signal('SIGKILL'), end: (primary) => primary.start() },
  postgres: { begin: (primary) => primary.signal('SIGKILL', 'postgres'), isRestart: true },
  stop: { begin: (primary) => primary.stop(), end: (primary) => primary.start() },
  freeze: { begin: (primary) => primary.signal('SIGSTOP'), end: (primary) => primary.signal('SIGCONT') },
  switchover: { begin: (_, cluster) => cluster.switchOver() },
};

const startedAt = performance.now();
function tell(progress: string): void {
  process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${progress}\n`);
}

function measure(
  name: string,
  replication: (typeof replications)[number],
  confirmedMin: number,
): Promise<Record<string, unknown>> {
  const fault = faults[name] as Fault;
  return withCleanUp(async (t) => {
    tell(`${name}, ${replication}: starting the monitor and two nodes`);
    const cluster = await openCluster(t, replication);
    const primary = (await cluster.nodeThatIs('primary')) as PostgresNode;
    const standby = (await cluster.nodeThatIs('secondary')) as PostgresNode;
    const next = fault.isRestart ? primary : standby;
    const load = await openLoad(t, cluster.url);
    tell('placing orders');
    await load.more(confirmedMin);
    tell('the fault begins');
    const faultAt = performance.now();
    const begun = fault.begin(primary, cluster);
    const acceptsWrites = async () =>
      (await next.ask('show transaction_read_only').catch(() => []))[0]?.transaction_read_only === 'off';
    await until(acceptsWrites, 'no server accepts writes again', promotionMs);
    const promotedAt = performance.now();
    await begun;
    tell(`${next.name} accepts writes after ${((promotedAt - faultAt) / 1000).toFixed(1)} s`);
    await load.more(100);
    fault.end?.(primary);
    await cluster.healthy();
    tell(`${primary.name} is back`);
    await load.more(100);
    await load.stop();
    // Replication to a node that has become the secondary once more may lag.
    const last = (await cluster.nodeThatIs('primary')) ?? next;
    const result = await load.resultIn(last, faultAt, promotedAt);
    tell(JSON.stringify(result));
    return {
      fault: name,
      replication,
      'seconds until a server accepts writes': ((promotedAt - faultAt) / 1000).toFixed(1),
      ...result,
      faults: load.faults().join(', '),
    };
  });
}

/** The values of an option. @throws RefusedError for one that is not known */
function chosen<T extends string>(name: string, values: readonly string[], known: readonly T[]): T[] {
  const unknown = values.find((value) => !known.includes(value as T));
  if (unknown !== undefined) {
    throw new RefusedError(`--${name} ${unknown} is not known. Use ${known.join(', ')}.`);
  }
  return values as T[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      fault: { type: 'string', multiple: true, default: Object.keys(faults) },
      replication: { type: 'string', multiple: true, default: [...replications] },
      orders: { type: 'string', default: '500' },
      rounds: { type: 'string', default: '1' },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const names = chosen('fault', values.fault, Object.keys(faults));
  const chosenReplications = chosen('replication', values.replication, replications);
  const rows: Record<string, unknown>[] = [];
  await withCleanUp(async (t) => {
    installPackages(t, tell);
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const name of names) {
        for (const replication of chosenReplications) {
          rows.push(await measure(name, replication, Number(values.orders)));
        }
      }
    }
  });
  process.stdout.write(tableOf(rows));
}

await main().catch((error) => {
  process.stderr.write(error instanceof RefusedError ? `${error.message}\n` : `${error.stack}\n`);
  process.exitCode = 1;
});
