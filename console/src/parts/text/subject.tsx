/** What an event happened to, as a link to the screen that shows it. */
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import { describeSubject, mentionOfSubject } from './mentions.ts';
import { useNames } from './names.ts';

const screens: Readonly<Record<string, string>> = {
  order: 'orders',
  cheese: 'cheeses',
  stock: 'stock',
  customer: 'customers',
  webhook_endpoint: 'webhooks',
  approval: 'approvals',
  account: 'access',
  delivery_method: 'delivery',
  tax_rate: 'taxes',
  discount: 'discounts',
};

/** The path of the screen; null if a subject has none. */
function pathOfSubject(subject: string): string | null {
  const [kind = '', id = ''] = subject.split(':');
  if (['api_key', 'oauth_client'].includes(kind)) {
    return '/access';
  }
  const screen = screens[kind];
  return screen === undefined ? null : `/${screen}/${id}`;
}

interface Props {
  readonly subject: string;
  /** It was deleted, so no screen shows it. */
  readonly isGone?: boolean;
  /** Its name, if the event has it. */
  readonly name?: string | null;
}

export function Subject({ subject, isGone = false, name: given = null }: Props) {
  const mention = mentionOfSubject(subject);
  const [name = null] = useNames(mention === null ? [] : [mention]);
  const path = isGone ? null : pathOfSubject(subject);
  const text = describeSubject(subject, given ?? name);
  return path === null ? (
    <span title={subject}>{text}</span>
  ) : (
    <Anchor component={Link} href={path} size="sm" title={subject} underline="always">
      {text}
    </Anchor>
  );
}
