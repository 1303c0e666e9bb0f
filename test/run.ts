/**
 * `npm test` runs all checks and all tests, and `npm test -- cli mail` the tests of these areas alone, without the checks.
 * An area is a folder of test/.
 */
import { spawnSync } from 'node:child_process';
import { areasOfProcesses, listAreas } from './groups.ts';

const areas = listAreas();

/** Runs a program of npm, and ends with its exit status if it fails. */
function run(command: string): void {
  const { status } = spawnSync(command, {
    cwd: new URL('../', import.meta.url),
    shell: true,
    stdio: 'inherit',
  });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

function runTests(patterns: readonly string[]): void {
  const quoted = patterns.map((pattern) => `"test/${pattern}"`).join(' ');
  run(
    `node --import ./test/without-hooks.js --test --test-concurrency=4 --test-global-setup=test/global-setup.ts ${quoted}`,
  );
}

const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !areas.includes(name));
if (unknown !== undefined) {
  console.error(
    `"${unknown}" is not an area of tests. Run "npm test" for all tests, or "npm test -- AREA" with one or more of: ${areas.join(', ')}.`,
  );
  process.exit(1);
}
// Its types and verbs are generated.
run('node client/build.js');
if (chosen.length === 0) {
  run('biome check');
  run('tsc');
  run('tsc --project console');
  runTests(['groups/*.ts', ...areasOfProcesses.map((area) => `${area}/**/*.test.ts`)]);
} else {
  runTests(chosen.map((area) => `${area}/**/*.test.ts`));
}
