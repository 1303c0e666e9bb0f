/** Paths of the reference. */
export const referencePath = '/docs';
export const scriptPath = '/docs/send-request.js';
export const stylePath = '/docs/style.css';
