/**
 * Finds leases that nothing renews: the process that ran their jobs was killed, or has lost the database. Leases are
 * only compared with what they were before, and the time in between is measured here, so a clock that is wrong or that
 * jumps, on whatever machine, ends no lease.
 */
import type { JobLease } from './leases.ts';

interface Seen {
  readonly lease: JobLease;
  readonly since: number;
}

/**
 * Returns a function for what was read now, which returns the leases that are the same for `leaseMs`. If it was not
 * called for half of that, this process was stopped or had no database. Others may not have been able to renew leases
 * either, so the time begins again.
 */
export function watchLeases(leaseMs: number): (leases: readonly JobLease[]) => JobLease[] {
  let seen = new Map<string, Seen>();
  let lastAt = Number.NEGATIVE_INFINITY;

  return (leases) => {
    const now = performance.now();
    const before: ReadonlyMap<string, Seen> = now - lastAt > leaseMs / 2 ? new Map() : seen;
    lastAt = now;
    seen = new Map(
      leases.map((lease) => {
        const known = before.get(lease.key);
        const isSame =
          known?.lease.attempts === lease.attempts && known.lease.leased_until === lease.leased_until;
        return [lease.key, { lease, since: isSame ? known.since : now }];
      }),
    );
    return [...seen.values()].filter(({ since }) => now - since >= leaseMs).map(({ lease }) => lease);
  };
}
