/**
 * Makes a release and publishes nothing: the version in every file, the section of the changelog, a commit, and in dist/
 * the packages with their checksums. Prints the commands that publish them.
 *
 *     npm run release -- 1.0.0
 */
import '../bin/other-node.js';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const dist = join(root, 'dist');
const unreleased = '## Unreleased\n';

function run(program, ...args) {
  return execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

function fail(message) {
  console.error(`release: ${message}`);
  process.exit(1);
}

/** Changes a file. Fails where the text is as before, because the file no longer has what is replaced. */
function change(path, pattern, replacement) {
  const text = readFileSync(join(root, path), 'utf8');
  const changed = text.replace(pattern, replacement);
  if (changed === text && !text.includes(replacement)) {
    fail(
      `${path} has nothing that matches ${pattern}. Nothing was committed: "git checkout ." undoes the changes.`,
    );
  }
  writeFileSync(join(root, path), changed);
}

/** The numbers of a version, or null. */
function numbersOf(text) {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(text);
  return match === null ? null : match.slice(1).map(Number);
}

function isLater(one, other) {
  const index = one.findIndex((number, position) => number !== other[position]);
  return index >= 0 && one[index] > other[index];
}

const [, , version = ''] = process.argv;
const numbers = numbersOf(version);
const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
if (numbers === null) {
  fail(`"${version}" is not a version such as 1.2.0. Usage: npm run release -- 1.2.0`);
}
if (!isLater(numbers, numbersOf(current))) {
  fail(`${version} is not later than the current version ${current}.`);
}
if (run('git', 'status', '--porcelain') !== '') {
  fail('there are changes that are not committed. Commit or remove them first.');
}
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const section = changelog.split(unreleased)[1]?.split('\n## ')[0] ?? '';
if (section.trim() === '') {
  fail('CHANGELOG.md has nothing under "Unreleased". Describe the release there first.');
}

const inManifest = /"version": "[^"]+"/;
for (const path of ['package.json', 'client/package.json', 'console/package.json']) {
  change(path, inManifest, `"version": "${version}"`);
}
change('client/src/version.ts', /'\d[^']*'/, `'${version}'`);
const date = new Date().toISOString().slice(0, 10);
change('CHANGELOG.md', unreleased, `${unreleased}\n## ${version} - ${date}\n`);
run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--offline');
writeFileSync(join(root, 'openapi.json'), run(process.execPath, 'bin/curd.js', 'openapi'));
run('npm', 'run', 'build');
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
run('npm', 'pack', '--ignore-scripts', '--pack-destination', dist);
run('npm', 'pack', '--ignore-scripts', '--pack-destination', dist, '--workspace', 'client');
const packages = readdirSync(dist).sort();
const checksums = packages.map((name) => {
  const hash = createHash('sha256').update(readFileSync(join(dist, name)));
  return `${hash.digest('hex')}  ${name}\n`;
});
writeFileSync(join(dist, 'SHA256SUMS'), checksums.join(''));
run('git', 'commit', '--all', '--message', `Release ${version}`);

console.log(`Version ${version} is committed, and its packages are in dist/. Nothing is published. Run the tests, then:

  git tag v${version} && git push origin HEAD v${version}
${packages.map((name) => `  npm publish dist/${name}${name.startsWith('curd-client') ? ' --access public' : ''}\n`).join('')}  docker build -t curd:${version} .

Attach dist/SHA256SUMS and the packages to the release of the tag.`);
