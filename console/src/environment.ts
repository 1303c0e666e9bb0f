/** What the server wrote into the page. */

const { command = 'curd', environment = 'local', shop = 'Cheese shop' } = document.documentElement.dataset;

export const shopEnvironment = environment as 'local' | 'sandbox' | 'production';
export const shopName = shop;
/** How operators of this server run commands, such as `npx curd`. */
export const shopCommand = command;

/** The nonce that the policy of the page permits for styles. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
}
