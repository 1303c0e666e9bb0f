/** The currency of the shop, which the server wrote into the page. */

interface Page {
  readonly documentElement: { readonly dataset: Readonly<Record<string, string | undefined>> };
}

/** Undefined in tests of texts, which run outside of a page. */
const { document: page } = globalThis as { readonly document?: Page };

/** ISO 4217, with two decimals. */
export const shopCurrency = page?.documentElement.dataset.currency ?? 'USD';
