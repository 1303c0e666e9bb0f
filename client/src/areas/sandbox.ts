import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { Body, Result } from '../types.ts';
import { Area } from './area.ts';

/** What helps to test an integration. It does not exist in production. */
export class Sandbox extends Area {
  /** Returns the time of the shop, and how far it was moved. */
  getClock(options?: CallOptions): Promise<Result<'getSandboxClock'>> {
    return this.api.get('/v2/sandbox/clock', {}, options);
  }

  /** Moves the time of the shop forward, and waits until everything is done that becomes due on the way. */
  advanceClock<Options extends WriteOptions>(
    advance: Body<'advanceSandboxClock'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'advanceSandboxClock'>>> {
    return this.api.post('/v2/sandbox/clock', { body: advance }, options);
  }
}
