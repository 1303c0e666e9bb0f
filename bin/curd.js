#!/usr/bin/env node
import module from 'node:module';
import { compileCacheFolder } from './compile-cache.js';
import './other-node.js';
import { findProgram } from './program.js';

// Not above, because modules that are imported together do not wait for each other.
await import('./needs-node.js');

// Files that the process creates are readable for its user only.
process.umask(0o077);

// The compile cache makes the start faster.
const folder = compileCacheFolder();
if (folder !== null) {
  module.enableCompileCache(folder);
  // For server processes (src/cli/server/processes.ts).
  process.env.NODE_COMPILE_CACHE ??= folder;
}
// Stack traces of the bundle name files and lines of the sources.
process.setSourceMapsEnabled(true);
await import(findProgram().href);
