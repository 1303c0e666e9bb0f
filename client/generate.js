/**
 * Writes src/schema.ts, the types of openapi.json. npm runs it after an installation, on Node 20 or later. The types are
 * only for development and for the package: without the packages of client/.tools, nothing is written.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const file = new URL('src/schema.ts', import.meta.url);
const generator = await import('openapi-typescript').catch((error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND') {
    return null;
  }
  throw error;
});
/** Whether the packages of client/.tools are installed. */
export const hasTools = generator !== null;
if (hasTools) {
  const { default: openapiTS, astToString, COMMENT_HEADER } = generator;
  const types = await openapiTS(new URL('../openapi.json', import.meta.url), { defaultNonNullable: false });
  const text = COMMENT_HEADER + astToString(types);
  // Tools that watch files see no change where there is none.
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    writeFileSync(file, text);
  }
}
