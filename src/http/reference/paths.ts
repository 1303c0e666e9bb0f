/** Paths of the reference. */
export const referencePath = '/docs';
export const interactivePath = '/docs/interactive';
export const stylePath = '/docs/style.css';
