/**
 * The settings of this page. Everybody can read them, so the key must be a publishable one:
 *
 *     npx curd keys create --publishable --account local --scope write:orders
 *
 * For a page on the Internet, add --origin https://shop.example with the origin of the page.
 */

/** Where the Curd server is. */
export const url = 'http://127.0.0.1:8080';
export const publishableKey = 'pk_test_paste_your_key_here';
/** `memory`: a reload logs the customer out. `session`: the login lasts until the tab is closed, and scripts can read it. */
export const storage = 'memory';
