/** What the server wrote into the page. */

const { environment = 'local', shop = 'Cheese shop' } = document.documentElement.dataset;

export const shopEnvironment = environment as 'local' | 'sandbox' | 'production';
export const shopName = shop;

/** The nonce that the policy of the page permits for styles. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
}
