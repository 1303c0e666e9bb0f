/** What a browser shows for a URL of this server at which there is nothing. */
import type { Config } from '../../settings/config.ts';
import { plainPage } from './plain-page.ts';

export function notFoundPage({ shopName, console }: Pick<Config, 'shopName' | 'console'>): string {
  return plainPage({
    title: `Not found - ${shopName}`,
    heading: 'There is nothing at this URL',
    text: `Check the address, or continue at one of these pages of ${shopName}.`,
    links: [
      { path: '/', text: 'Start page' },
      ...(console === 'on' ? [{ path: '/console', text: 'Console' }] : []),
      { path: '/docs', text: 'API reference' },
    ],
  });
}
