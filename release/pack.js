/**
 * Writes lib/, the program as the package `curd` contains it: JavaScript, because Node strips no types of files below
 * node_modules. Types become spaces, so lines and columns stay. npm runs it before it packs.
 */
import '../bin/other-node.js';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const lib = join(root, 'lib');

/** Files that are copied as they are. */
const copied = [
  'bin/compile-cache.js',
  'client/dist/browser.js',
  'client/dist/client.tgz',
  'client/src/areas/verbs.json',
  'console/dist',
  'migrations',
  ...globSync('src/**/*.{css,html,js,json,txt,webp}', { cwd: root }),
];
const scripts = ['bin/server-process.js', ...globSync(['src/**/*.ts', 'client/src/**/*.ts'], { cwd: root })];
/** It has types only. */
const schema = join('client', 'src', 'schema.ts');

/** The module, with the names that imported files have in lib/. */
function toJavaScript(path) {
  const code = readFileSync(join(root, path), 'utf8');
  const stripped = path.endsWith('.ts') ? stripTypeScriptTypes(code, { mode: 'strip' }) : code;
  return stripped.replace(/(['"])(\.\.?\/[^'"\n]*)\.ts\1/g, '$1$2.js$1').replace(/[ \t]+$/gm, '');
}

rmSync(lib, { recursive: true, force: true });
for (const path of scripts) {
  if (path !== schema) {
    const file = join(lib, path.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, toJavaScript(path));
  }
}
for (const path of copied) {
  cpSync(join(root, path), join(lib, path), { recursive: true });
}
const { name, version, type } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(join(lib, 'package.json'), `${JSON.stringify({ name, version, type })}\n`);
