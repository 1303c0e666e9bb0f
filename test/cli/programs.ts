/** Programs of the operating system that read our configurations, such as nginx. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cleanUp, type Scope } from '../context.ts';

/** Debian installs daemons into folders that are not on every PATH. */
export const programEnvironment = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/** Why a test is skipped, or false. */
export function skipWithout(...programs: readonly string[]): string | false {
  const missing = programs.find(
    (program) => spawnSync('which', [program], { env: programEnvironment }).status !== 0,
  );
  return missing === undefined ? false : `${missing} is not installed`;
}

/** Runs a program until the test ends. Returns a function that returns its output. */
export function run(
  t: Scope,
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): () => string {
  const child = spawn(program, args, {
    env: { ...programEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece) => {
      output += piece;
    });
  }
  const ended = once(child, 'exit');
  cleanUp(t, async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return () => output;
}
