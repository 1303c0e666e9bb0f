/** What makes one type of event happen: the real change that causes it, on a given subject or on one of its own. */
import type { Principal } from '../../access/principal.ts';
import type { Clock } from '../../clock.ts';
import type { Context } from '../../database/context.ts';

export interface TriggerRequest {
  readonly context: Context;
  readonly principal: Principal;
}

export interface Trigger {
  /** The kind of the subjects that it can be given; null if it makes a new one each time. */
  readonly kind: string | null;
  /**
   * @param id of the given subject; null if it makes one, and touches nothing else
   * @returns the subject of the event
   */
  run(request: TriggerRequest, id: string | null): Promise<string>;
}

/** Triggers by the types of their events. */
export type Triggers = Readonly<Record<string, Trigger>>;

export function randomText(clock: Pick<Clock, 'random'>, bytes: number): string {
  return Buffer.from(clock.random(bytes)).toString('hex');
}

/** Each run makes a new subject. */
export function making(kind: string, make: (request: TriggerRequest) => Promise<number | string>): Trigger {
  return { kind: null, run: async (request) => `${kind}:${await make(request)}` };
}

/** Changes the given subject. Without one, a new one is made before. */
export function changing(
  kind: string,
  make: (request: TriggerRequest) => Promise<number>,
  change: (request: TriggerRequest, id: number) => Promise<unknown>,
): Trigger {
  return {
    kind,
    async run(request, given) {
      const id = given === null ? await make(request) : Number(given);
      await change(request, id);
      return `${kind}:${id}`;
    },
  };
}
