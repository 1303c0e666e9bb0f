/**
 * Kills a primary while two instances place orders, promotes its standby, and prints what was lost: with asynchronous
 * and with synchronous replication. `node bench/failover/standby.ts 2000` sets how many orders each instance confirms
 * before the kill.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  kill,
  openPrimary,
  type Pair,
  promote,
  replicateSynchronously,
} from '../../test/instances/failover.ts';
import { openLoad, tableOf, withCleanUp } from './load.ts';

const confirmedMin = Number(process.argv[2] ?? 1000);
/** How long a failover tool would need to notice. */
const noticedAfterMs = 2000;

function measure(replication: 'asynchronous' | 'synchronous'): Promise<Record<string, unknown>> {
  return withCleanUp(async (t) => {
    const { url, primary, makeStandby } = await openPrimary(t);
    const pair: Pair = { primary, standby: await makeStandby() };
    if (replication === 'synchronous') {
      await replicateSynchronously(pair);
    }
    const load = await openLoad(t, url);
    await load.more(confirmedMin);
    const killedAt = performance.now();
    await kill(pair);
    await sleep(noticedAfterMs);
    await promote(pair);
    const promotedAt = performance.now();
    await load.more(100);
    await load.stop();
    if (load.faults().length > 0) {
      throw new Error(load.faults().join('\n'));
    }
    return { replication, ...(await load.resultIn(pair.standby, killedAt, promotedAt)) };
  });
}

const rows: Record<string, unknown>[] = [];
for (const replication of ['asynchronous', 'synchronous'] as const) {
  rows.push(await measure(replication));
}
process.stdout.write(tableOf(rows));
