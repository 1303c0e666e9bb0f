#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';
import { compileCacheFolder } from './compile-cache.js';
import './other-node.js';

// Not above, because modules that are imported together do not wait for each other.
await import('./needs-node.js');

// Files that the process creates are readable for its user only.
process.umask(0o077);

// The compile cache makes the start faster.
const folder = compileCacheFolder();
if (folder !== null) {
  module.enableCompileCache(folder);
}
// Node strips types outside of node_modules only, so the package has a copy without types (release/pack.js).
const source = new URL('../src/main.ts', import.meta.url);
await import(existsSync(source) ? source : new URL('../lib/src/main.js', import.meta.url));
