/**
 * Builds the console: bundles console/src into console/dist. npm runs it after an installation, on Node 20 or later.
 *
 *     npm run build                # once
 *     npm run build -- --watch     # after each change
 *     npm run build -- --debug     # with names that can be read in errors
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const folder = fileURLToPath(new URL('.', import.meta.url));
const dist = join(folder, 'dist');
const assets = join(dist, 'assets');

/** Writes the files of a build. index.html comes last and old files go after it, so that a server finds a whole page. */
function writeFiles({ outputFiles, metafile }) {
  mkdirSync(assets, { recursive: true });
  const names = new Set();
  for (const { path, contents } of outputFiles) {
    const name = path.slice(assets.length + 1);
    names.add(name);
    writeFileSync(join(assets, name), contents);
  }
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'src/main.tsx');
  if (entry === undefined) {
    throw new Error('The build has no entry.');
  }
  const [script, { cssBundle }] = entry;
  const urlOf = (path) => `/console/${path.replace(/^dist\//, '')}`;
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace('{{script}}', urlOf(script))
    .replace('{{style}}', urlOf(cssBundle));
  writeFileSync(join(dist, 'index.html.new'), page);
  renameSync(join(dist, 'index.html.new'), join(dist, 'index.html'));
  for (const name of readdirSync(assets)) {
    if (!names.has(name)) {
      rmSync(join(assets, name));
    }
  }
}

const options = {
  absWorkingDir: folder,
  entryPoints: ['src/main.tsx'],
  outdir: 'dist/assets',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['chrome115', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  minify: !process.argv.includes('--debug'),
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
  plugins: [
    {
      name: 'write-files',
      setup: ({ onEnd }) => onEnd((result) => result.outputFiles && writeFiles(result)),
    },
  ],
};

if (process.argv.includes('--watch')) {
  await (await esbuild.context(options)).watch();
  console.log('The console is built after each change. Ctrl+C ends.');
} else {
  await esbuild.build(options);
}
