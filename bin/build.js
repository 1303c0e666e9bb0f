/**
 * Builds lib/, the bundle: the program as 170 files of JavaScript, because loading 640 files of TypeScript takes 0.15 s more
 * of CPU time. npm runs it after an installation and before it packs, on Node 20 or later. bin/program.js decides whether
 * the bundle runs or the sources.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const lib = join(root, 'lib');
const sourcesWithUrl = readdirSync(join(root, 'src'), { recursive: true })
  .map((name) => join(root, 'src', name))
  .filter((path) => path.endsWith('.ts') && readFileSync(path, 'utf8').includes('import.meta.url'));
/** A URL of a program for a child process, or another use of the URL of a source. */
const urlPattern = /new URL\('([^']+)\.ts', import\.meta\.url\)|import\.meta\.url/g;

/** Programs that child processes run. Each is a file in lib/. */
const programs = sourcesWithUrl.flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(urlPattern)]
    .filter(([, program]) => program !== undefined)
    .map(([, program]) => resolve(dirname(path), `${program}.ts`)),
);

/** A module reads its templates and images beside its source, and finds programs in lib/. */
const urls = {
  name: 'urls',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      if (!sourcesWithUrl.includes(path)) {
        return;
      }
      const fromLib = relative(lib, path).split(sep).join('/');
      const contents = readFileSync(path, 'utf8').replace(urlPattern, (_, program) =>
        program === undefined
          ? `new URL('${fromLib}', import.meta.url).href`
          : `new URL('${basename(program)}.js', import.meta.url)`,
      );
      return { contents, loader: 'ts' };
    });
  },
};

/** Size and time of a file that the bundle is made of. A file that changes while it is read never matches. */
function versionOf(path) {
  const { size, mtimeMs } = statSync(join(root, path));
  return [path, size, mtimeMs < startedAt ? mtimeMs : null];
}

const startedAt = Date.now();
const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts', ...programs],
  outdir: 'lib',
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  // A dynamic import loads a file that nothing loads before.
  splitting: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node26',
  // Stack traces name files and lines of the sources.
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
  write: false,
  plugins: [urls],
  logLevel: 'warning',
});

// The list of sources is written last, so that an unfinished bundle never runs. A name has the hash of the file, and two
// builds can run at once.
const list = JSON.stringify(['bin/build.js', ...Object.keys(metafile.inputs)].map(versionOf));
const files = [...outputFiles, { path: join(lib, 'sources.json'), contents: list }];
mkdirSync(lib, { recursive: true });
for (const { path, contents } of files) {
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}
const names = files.map(({ path }) => basename(path));
for (const name of readdirSync(lib)) {
  if (/\.(js|map)$/.test(name) && !names.includes(name)) {
    rmSync(join(lib, name), { force: true });
  }
}
