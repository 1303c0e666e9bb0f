/**
 * Builds two things from the sources of the client:
 * - The package: ES modules in dist/esm, CommonJS in dist/cjs, and both in dist/client.tgz. A server has it at /client.tgz.
 * - dist/browser.js, for web pages without a build step. A server has it at /client/browser.js.
 *
 * npm runs this after an installation and before it packs the client, on Node 20 or later. If the packages of
 * client/.tools are not installed, as in the Docker image, nothing is built.
 */
import { cpSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hasTools } from './generate.js';

const folder = fileURLToPath(new URL('.', import.meta.url));
const entries = [
  'src/index.ts',
  'browser/index.ts',
  'webhooks/index.ts',
  'oauth/index.ts',
  'testing/index.ts',
];

/** Types, and scripts for ES modules. Errors in types are found by the checks of the repository, not here. */
function compile(ts) {
  const { config } = ts.readConfigFile(`${folder}tsconfig.build.json`, ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const program = ts.createProgram(
    entries.map((entry) => folder + entry),
    { ...parsed.options, outDir: `${folder}dist/esm`, sourceMap: true, inlineSources: true, noCheck: true },
  );
  const { diagnostics } = program.emit();
  if (diagnostics.length > 0) {
    throw new Error(
      ts.formatDiagnostics(diagnostics, {
        ...ts.sys,
        getCanonicalFileName: (name) => name,
        getNewLine: () => '\n',
      }),
    );
  }
}

/** The types are the same for both formats. Compiling them twice would double the time of the build. */
function copyTypes() {
  cpSync(`${folder}dist/esm`, `${folder}dist/cjs`, {
    recursive: true,
    filter: (path) => path.endsWith('.d.ts') || statSync(path).isDirectory(),
  });
}

/** The types of the API, half of the package, are there once. An ES module may import types of CommonJS, not the reverse. */
function shareSchema() {
  const schema = `${folder}dist/esm/src/schema`;
  rmSync(`${schema}.js`);
  rmSync(`${schema}.js.map`);
  writeFileSync(`${schema}.d.ts`, "export type * from '../../cjs/src/schema.js';\n");
}

/** One file for each entry. oauth4webapi exists as ES modules only, so it is a part of the file. */
async function bundleForCommonJs() {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: folder,
    entryPoints: entries,
    outbase: '.',
    outdir: 'dist/cjs',
    bundle: true,
    external: ['eventsource-parser', 'standardwebhooks', 'node:*'],
    format: 'cjs',
    target: 'es2023',
    sourcemap: true,
    legalComments: 'inline',
    logLevel: 'warning',
  });
  writeFileSync(`${folder}dist/cjs/package.json`, '{ "type": "commonjs" }\n');
}

/** One file that a page imports by its URL. */
async function bundleForPages() {
  const { build } = await import('esbuild');
  const { name, version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  const unfinished = `dist/browser.js.${process.pid}`;
  await build({
    absWorkingDir: folder,
    entryPoints: ['browser/index.ts'],
    outfile: unfinished,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    banner: { js: `/* ${name}/browser ${version} */` },
    logLevel: 'warning',
  });
  // A server that runs reads a whole file.
  renameSync(folder + unfinished, `${folder}dist/browser.js`);
}

/** The files of `npm pack`, with one time for all, so that the same sources are the same bytes. */
async function pack() {
  const { create } = await import('tar');
  const { files } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  const options = { cwd: folder, prefix: 'package', portable: true, gzip: { level: 9 }, mtime: new Date(0) };
  const unfinished = `${folder}dist/client.tgz.${process.pid}`;
  await create({ ...options, file: unfinished }, ['package.json', 'LICENSE', 'README.md', ...files]);
  // A server that runs reads a whole file.
  renameSync(unfinished, `${folder}dist/client.tgz`);
}

if (hasTools) {
  const { default: ts } = await import('typescript');
  for (const format of ['esm', 'cjs']) {
    rmSync(`${folder}dist/${format}`, { recursive: true, force: true });
  }
  compile(ts);
  copyTypes();
  shareSchema();
  await bundleForCommonJs();
  await bundleForPages();
  await pack();
}
