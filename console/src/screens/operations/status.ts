/** The state of the shop and the results of `curd doctor`, as Operations and Limits read them. */
import type { Curd, Result } from '../../../../client/src/index.ts';

export type Status = Result<'getStatus'>;

export interface DoctorRun {
  readonly at: string;
  readonly seconds: number;
  readonly faults: number;
  readonly checks: readonly {
    readonly check: string;
    readonly findings: readonly {
      readonly fault: string;
      readonly count: number;
      readonly examples: readonly unknown[];
      readonly remedy: string;
      readonly isNote: boolean;
    }[];
  }[];
}

/** Figures change without an event. */
export const statusRefreshMs = 5000;

export async function readStatus(curd: Curd, signal: AbortSignal): Promise<Status> {
  return await curd.status.get({ signal });
}

/** For an operation without a verb in the client. */
type Get = (path: string, input: object, options: { readonly signal: AbortSignal }) => Promise<unknown>;

export async function readLastDoctorRun(curd: Curd, signal: AbortSignal): Promise<DoctorRun | null> {
  const http = curd.http as unknown as { readonly get: Get };
  const { items } = (await http.get('/v2/integrity', {}, { signal })) as { readonly items: DoctorRun[] };
  return items[0] ?? null;
}
