/** What events and timelines mention, in words. */
import { shorten } from './format.ts';

const withName = /^(?:key|customer|client):[\w-]+$/;

const fixed: Readonly<Record<string, string>> = {
  cli: 'command line',
  'client:console': 'operator',
};

/** The parts of an actor that have names: `client:ab12` and `customer:5` of `client:ab12/customer:5`. */
export function listMentions(actor: string): string[] {
  return fixed[actor] === undefined ? actor.split('/').filter((part) => withName.test(part)) : [];
}

/** "key 2", "client mob_8Fq…YcD1" */
function withoutName(mention: string): string {
  const [kind = '', id = ''] = mention.split(':');
  return `${kind} ${shorten(id)}`;
}

/** @param names of `listMentions`; null if a name is not known */
export function describeActor(actor: string, names: readonly (string | null)[]): string {
  const mentions = listMentions(actor);
  if (mentions.length === 0) {
    return fixed[actor] ?? actor;
  }
  const [client = '', customer] = mentions.map((mention, index) => names[index] ?? withoutName(mention));
  return customer === undefined ? client : `${customer} (${client})`;
}

const kinds: Readonly<Record<string, string>> = {
  api_key: 'key',
  oauth_client: 'client',
  customer: 'customer',
};

/** What names the subject of an event; null for orders, cheeses and others, which have a page of their own. */
export function mentionOfSubject(subject: string): string | null {
  const [kind = '', id = ''] = subject.split(':');
  return kinds[kind] === undefined ? null : `${kinds[kind]}:${id}`;
}

/** "order 31", "customer ada" */
export function describeSubject(subject: string, name: string | null): string {
  const [kind = '', id = ''] = subject.split(':');
  return `${kind.replaceAll('_', ' ')} ${name ?? shorten(id)}`;
}
