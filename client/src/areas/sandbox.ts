import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
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

  /** Performs the real change that causes an event, and returns the event. */
  triggerEvent(
    trigger: Body<'triggerSandboxEvent'>,
    options?: CallOptions,
  ): Promise<Result<'triggerSandboxEvent'>> {
    return this.api.post('/v2/sandbox/trigger', { body: trigger }, options);
  }

  /** Deletes what the shop has, and fills in the demo catalogue. Accounts, keys and applications stay. */
  reset(confirmation: Body<'resetSandbox'>, options?: CallOptions): Promise<Result<'resetSandbox'>> {
    return this.api.post('/v2/sandbox/reset', { body: confirmation }, options);
  }
}

/** Snapshots of the shop. They do not exist in production. */
export class Snapshots extends Area {
  /** Lists all snapshots, the oldest first. */
  list(options?: CallOptions): ListOf<'listSnapshots'> {
    return this.api.listAll('/v2/sandbox/snapshots', {}, options);
  }

  /** Makes a snapshot of the shop. */
  create(snapshot: Body<'createSnapshot'>, options?: CallOptions): Promise<Result<'createSnapshot'>> {
    return this.api.post('/v2/sandbox/snapshots', { body: snapshot }, options);
  }

  /** Brings the shop back to a snapshot. What was changed since then is gone. */
  restore(snapshotId: number, options?: CallOptions): Promise<Result<'restoreSnapshot'>> {
    return this.api.post('/v2/sandbox/snapshots/{snapshotId}/restore', { path: { snapshotId } }, options);
  }

  /** Deletes a snapshot. */
  delete(snapshotId: number, options?: CallOptions): Promise<void> {
    return this.api.delete('/v2/sandbox/snapshots/{snapshotId}', { path: { snapshotId } }, options);
  }
}
