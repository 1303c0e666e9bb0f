/** All types of events of a shop, as the log, its readers and the webhooks know them. */
import type { EventDefinition } from './define.ts';

export class EventTypes {
  readonly definitions: readonly EventDefinition[];
  readonly names: readonly string[];

  constructor(definitions: readonly EventDefinition[]) {
    this.definitions = definitions;
    this.names = definitions.map(({ type }) => type);
  }

  /** Whether a filter is the name of a type, or `cheese.*` for an existing kind. */
  isKnown(filter: string): boolean {
    return filter.endsWith('.*')
      ? this.names.some((name) => name.startsWith(filter.slice(0, -1)))
      : this.names.includes(filter);
  }
}
