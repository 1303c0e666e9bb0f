/** Makes events of every type happen, so that consumers of events can be tested. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, validationError } from '../../errors.ts';
import type { Numbering } from '../../event-log/numbering.ts';
import type { EventService } from '../../event-log/reading/service.ts';
import type { Trigger, TriggerRequest, Triggers } from './trigger.ts';

/** How long the event of a change may take to get its number. */
const numberingMs = 5000;
const retryMs = 20;
/** Events of one type that a trigger causes. */
const sameMax = 10;

interface Dependencies {
  readonly events: EventService;
  readonly numbering: Pick<Numbering, 'run' | 'lagSeconds'>;
  readonly triggers: Triggers;
}

export type TriggerService = ReturnType<typeof createTriggerService>;

export function createTriggerService(dependencies: Dependencies) {
  const { events, numbering } = dependencies;
  const triggers = new Map(Object.entries(dependencies.triggers));

  /** Undefined if the change caused no event. */
  async function findEvent(after: number, type: string, subject: string): Promise<string | undefined> {
    const filter = { types: [type], subject, isAdmin: true };
    const deadline = performance.now() + numberingMs;
    for (let position = after; ; ) {
      await numbering.run();
      const page = await events.list(position, filter, sameMax);
      // What was made for the event can have caused such an event before it.
      const item = page.items.at(-1);
      if (item !== undefined) {
        return item.text;
      }
      position = page.nextSequence;
      if (page.hasMore) {
        continue;
      }
      if ((await numbering.lagSeconds()) === 0 || performance.now() > deadline) {
        return undefined;
      }
      await sleep(retryMs);
    }
  }

  return {
    /**
     * Performs the change that causes an event, and returns the event as JSON.
     * @param subject such as `order:31`; null if one is to be made
     * @throws AppError validation, notFound if there is no such subject, conflict if it is in the wrong state
     */
    async trigger(request: TriggerRequest, type: string, subject: string | null): Promise<string> {
      const trigger = triggers.get(type);
      if (trigger === undefined) {
        throw validationError([
          { field: 'type', message: `must be one of ${[...triggers.keys()].join(', ')}` },
        ]);
      }
      const id = subject === null ? null : idOf(subject, type, trigger);
      const after = await events.resolve('latest');
      const changed = await trigger.run(request, id);
      const event = await findEvent(after, type, changed);
      if (event === undefined) {
        throw new AppError(
          'conflict',
          `${changed} caused no event ${type}: it is in the state after such an event already. Give another subject, or none.`,
        );
      }
      return event;
    },
  };
}

/** @throws AppError validation */
function idOf(subject: string, type: string, { kind }: Trigger): string {
  const id = subject.slice(subject.indexOf(':') + 1);
  const isId = kind === 'oauth_client' ? /^[\w-]{1,100}$/.test(id) : /^[1-9]\d{0,14}$/.test(id);
  if (kind === null) {
    throw validationError([
      { field: 'subject', message: `is not possible for ${type}, which makes a new one` },
    ]);
  }
  if (!isId || subject !== `${kind}:${id}`) {
    const example = kind === 'oauth_client' ? 'ab12' : '31';
    throw validationError([{ field: 'subject', message: `must be like ${kind}:${example} for ${type}` }]);
  }
  return id;
}
