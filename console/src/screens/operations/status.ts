/** The state of the shop and the results of `curd doctor`, as Operations and Limits read them. */
import type { Curd } from '../../../../client/src/index.ts';

export interface Status {
  readonly version: string;
  readonly environment: string;
  readonly engine: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly instance: string;
  readonly instances: readonly {
    readonly id: string;
    readonly version: string;
    readonly startedAt: string;
    readonly seenAt: string;
  }[];
  readonly database: { readonly latencyMs: number; readonly waiting: number };
  readonly log: {
    readonly last: number;
    readonly first: number;
    readonly waiting: number;
    readonly epoch: string;
  };
  readonly jobs: { readonly due: number; readonly oldestSeconds: number };
  readonly deliveries: { readonly waiting: number; readonly failing: number };
  readonly streams: number;
  readonly memoryBytes: number;
  readonly lastBackupAt: string | null;
  readonly settings: readonly {
    readonly variable: string;
    readonly value: string | null;
    readonly origin: 'default' | 'environment' | 'flag';
  }[];
  readonly deprecated: readonly {
    readonly operationId: string;
    readonly principal: string;
    readonly lastAt: string;
  }[];
  readonly faults: readonly {
    readonly at: string;
    readonly requestId: string;
    readonly operationId: string | null;
    readonly message: string;
  }[];
}

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

/** For operations without a verb in the client. */
type Get = (path: string, input: object, options: { readonly signal: AbortSignal }) => Promise<unknown>;

export async function readStatus(curd: Curd, signal: AbortSignal): Promise<Status> {
  const http = curd.http as unknown as { readonly get: Get };
  return (await http.get('/v2/status', {}, { signal })) as Status;
}

export async function readLastDoctorRun(curd: Curd, signal: AbortSignal): Promise<DoctorRun | null> {
  const http = curd.http as unknown as { readonly get: Get };
  const { items } = (await http.get('/v2/integrity', {}, { signal })) as { readonly items: DoctorRun[] };
  return items[0] ?? null;
}
