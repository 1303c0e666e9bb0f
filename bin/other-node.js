// Runs the command with the Node of our platform package if the Node of this process is too old. If npm has linked
// that Node, "npx curd" uses it already; npm 10 and global installations do not. Plain JavaScript for old versions of Node.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { nodePackage } from './node-package.js';

const majorMin = 26;

/** The Node of our platform package. null with --omit=optional and on other platforms. */
function findNode() {
  const { name, file } = nodePackage();
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
  } catch {
    return null;
  }
}

/** Replaces this process if Node can do that, so that signals and the process id need no care. */
async function runWith(node) {
  const args = [...process.execArgv, ...process.argv.slice(1)];
  if (process.execve !== undefined && process.platform !== 'win32') {
    process.execve(node, [node, ...args]);
  }
  const child = spawn(node, args, { stdio: 'inherit' });
  // A terminal sends SIGINT to both processes, and the server takes a second one as "stop at once".
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (...outcome) => resolve(outcome));
  });
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(code ?? 1);
}

if (Number(process.versions.node.split('.', 1)) < majorMin) {
  const node = findNode();
  if (node !== null) {
    await runWith(node);
  }
}
