#!/usr/bin/env node
import './needs-node.js';
import module from 'node:module';
import { compileCacheFolder } from './compile-cache.js';

// Files that the process creates are readable for its user only.
process.umask(0o077);

// The compile cache makes the start faster.
const folder = compileCacheFolder();
if (folder !== null) {
  module.enableCompileCache(folder);
}
await import('../src/main.ts');
