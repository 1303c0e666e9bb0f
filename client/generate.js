/**
 * Writes what the client has from openapi.json: src/areas/generated.ts, its verbs, and src/schema.ts, its types. npm runs it
 * after an installation, on Node 20 or later. The types are only for development and for the package: without the packages
 * of client/.tools, they are not written.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { generateAreas } from './generate-areas.js';

const urlOf = (path) => new URL(path, import.meta.url);
const read = (path) => readFileSync(urlOf(path), 'utf8');

/** Tools that watch files see no change if there is none. */
function write(path, text) {
  if (!existsSync(urlOf(path)) || read(path) !== text) {
    writeFileSync(urlOf(path), text);
  }
}

const document = JSON.parse(read('../openapi.json'));
write('src/areas/generated.ts', generateAreas(document, JSON.parse(read('src/areas/verbs.json'))));

/** Types of objects that need a member although each of them is optional: minProperties and maxProperties are 1. */
const helpers = `
type AtLeastOne<T> = T extends object ? { [K in keyof T]-?: Required<Pick<T, K>> & T }[keyof T] : T;
type ExactlyOne<T> = { [K in keyof T]-?: Required<Pick<T, K>> & { [O in Exclude<keyof T, K>]?: never } }[keyof T];
`;

const generator = await import('openapi-typescript').catch((error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND') {
    return null;
  }
  throw error;
});
/** Whether the packages of client/.tools are installed. */
export const hasTools = generator !== null;
if (hasTools) {
  const { default: openapiTS, astToString, COMMENT_HEADER, transformSchemaObject } = generator;
  const { factory } = (await import('typescript')).default;
  const transform = ({ minProperties, ...schema }, options) =>
    minProperties === 1 && 'properties' in schema
      ? factory.createTypeReferenceNode(schema.maxProperties === 1 ? 'ExactlyOne' : 'AtLeastOne', [
          transformSchemaObject(schema, options),
        ])
      : undefined;
  const types = await openapiTS(document, { inject: helpers, transform });
  write('src/schema.ts', COMMENT_HEADER + astToString(types));
}
