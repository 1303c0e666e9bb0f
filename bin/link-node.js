// Runs after "npm install" and "npm ci", on any version of Node. Links the Node of our platform package as
// node_modules/.bin/node. npm 11 does that itself. npm 10 removes the link together with the packages of other platforms,
// which have the same command. Plain JavaScript without dependencies.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodePackage } from './node-package.js';

const { name, file: fileInPackage } = nodePackage();
const file = `${name}/${fileInPackage}`;
const modules = new URL('../node_modules/', import.meta.url);
const folder = new URL('.bin/', modules);

// There is no package with --omit=optional and on other platforms. bin/needs-node.js then prints what to do.
if (existsSync(new URL(file, modules))) {
  mkdirSync(folder, { recursive: true });
  if (process.platform === 'win32') {
    const command = new URL('node.cmd', folder);
    if (!existsSync(command)) {
      writeFileSync(command, `@"%~dp0..\\${file.replaceAll('/', '\\')}" %*\r\n`);
    }
  } else if (!existsSync(new URL('node', folder))) {
    symlinkSync(`../${file}`, fileURLToPath(new URL('node', folder)));
  }
}
