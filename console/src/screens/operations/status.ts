/** The state of the shop and the results of `curd doctor`, as Operations and Limits read them. */
import type { Curd, Result } from '../../../../client/src/index.ts';

export type Status = Result<'getStatus'>;

export type DoctorRun = Result<'listIntegrity'>['items'][number];

/** Figures change without an event. */
export const statusRefreshMs = 5000;

export async function readStatus(curd: Curd, signal: AbortSignal): Promise<Status> {
  return await curd.status.get({ signal });
}

export async function readLastDoctorRun(curd: Curd, signal: AbortSignal): Promise<DoctorRun | null> {
  for await (const run of curd.integrity.list({ signal })) {
    return run;
  }
  return null;
}
