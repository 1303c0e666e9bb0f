#!/usr/bin/env node
import './needs-node.js';
import module from 'node:module';
import { compileCacheFolder } from './compile-cache.js';

// Whatever the process writes, only its user may read.
process.umask(0o077);

// Compiled code is kept between starts: it takes a good part off the time to the first answer.
const folder = compileCacheFolder();
if (folder !== null) {
  module.enableCompileCache(folder);
}
await import('../src/main.ts');
