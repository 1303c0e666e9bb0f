#!/usr/bin/env node
import './needs-node.js';
import module from 'node:module';

// Whatever the process writes, only its user may read.
process.umask(0o077);

// Compiled code is kept between starts: it takes a good part off the time to the first answer.
module.enableCompileCache();
await import('../src/main.ts');
