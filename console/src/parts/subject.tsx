/** What an event happened to, as a link to the screen that shows it. */
import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

const screens: Readonly<Record<string, string>> = {
  order: 'orders',
  cheese: 'cheeses',
  stock: 'stock',
  customer: 'customers',
  webhook_endpoint: 'webhooks',
  approval: 'approvals',
  account: 'access',
};

/** The path of the screen; null where a subject has none. */
export function pathOfSubject(subject: string): string | null {
  const [kind = '', id = ''] = subject.split(':');
  if (['api_key', 'oauth_client'].includes(kind)) {
    return '/access';
  }
  const screen = screens[kind];
  return screen === undefined ? null : `/${screen}/${id}`;
}

/** "order 31" */
export function nameSubject(subject: string): string {
  return subject.replace(':', ' ').replaceAll('_', ' ');
}

export function Subject({ subject }: { readonly subject: string }) {
  const path = pathOfSubject(subject);
  return path === null ? (
    nameSubject(subject)
  ) : (
    <Anchor component={Link} href={path} size="sm">
      {nameSubject(subject)}
    </Anchor>
  );
}
