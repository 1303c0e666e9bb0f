// The program of one of several server processes (src/cli/server/processes.ts), with the compile cache of curd.js.
import module from 'node:module';
import { compileCacheFolder } from './compile-cache.js';

const folder = compileCacheFolder();
if (folder !== null) {
  module.enableCompileCache(folder);
}
await import('../src/cli/server/server-process.ts');
