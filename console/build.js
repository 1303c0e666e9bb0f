/**
 * Builds the console: bundles console/src into console/dist. npm runs it after an installation, on Node 20 or later.
 *
 *     npm run build                # once
 *     npm run build -- --watch     # after each change
 *     npm run build -- --debug     # with names that can be read in errors
 *     npm run build -- --out /tmp/console
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as esbuild from 'esbuild';

const folder = fileURLToPath(new URL('.', import.meta.url));
const { values: flags } = parseArgs({
  options: { watch: { type: 'boolean' }, debug: { type: 'boolean' }, out: { type: 'string' } },
});
const dist = resolve(flags.out ?? join(folder, 'dist'));
const assets = join(dist, 'assets');

/** Mantine's styles in their order, without those of components that no script of the build uses. */
function usedStyles(scripts) {
  const styles = join(dirname(fileURLToPath(import.meta.resolve('@mantine/core/styles.css'))), 'styles');
  const all = readFileSync(join(styles, '..', 'styles.css'), 'utf8');
  const positionOf = (text) => all.indexOf(text.slice(0, 200));
  return readdirSync(styles)
    .filter((name) => name.endsWith('.css') && !name.endsWith('.layer.css'))
    .map((name) => ({ path: join(styles, name), text: readFileSync(join(styles, name), 'utf8') }))
    .filter(({ text }) => {
      const classes = text.match(/m_[\da-f]{6,8}/g);
      return classes === null || classes.some((name) => scripts.includes(`"${name}"`));
    })
    .sort((one, other) => positionOf(one.text) - positionOf(other.text))
    .map(({ path }) => path);
}

/**
 * One stylesheet for all screens, because a screen that is loaded later would not load its own. Styles of packages come
 * first, so that ours can change them.
 */
async function buildStyles({ outputFiles, metafile }) {
  const scripts = outputFiles.map(({ text }) => text).join('\n');
  const imported = Object.keys(metafile.inputs)
    .filter((path) => path.endsWith('.css'))
    .map((path) => join(folder, path));
  const isOurs = (path) => path.startsWith(join(folder, 'src'));
  const isCore = (path) => path.endsWith(join('@mantine', 'core', 'styles.css'));
  const paths = [
    ...usedStyles(scripts),
    ...imported.filter((path) => !isOurs(path) && !isCore(path)).sort(),
    ...imported.filter(isOurs).sort(),
  ];
  const { outputFiles: files } = await esbuild.build({
    ...common,
    stdin: {
      contents: paths.map((path) => `@import ${JSON.stringify(path)};`).join('\n'),
      loader: 'css',
      resolveDir: folder,
      sourcefile: 'styles.css',
    },
    entryNames: 'styles-[hash]',
  });
  return files[0];
}

/** The file of an entry. */
function outputOf(outputs, entryPoint) {
  const found = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint);
  if (found === undefined) {
    throw new Error(`The build has no entry ${entryPoint}.`);
  }
  return found[0];
}

/** All files that a script needs before it runs: a browser that knows them all loads them at once. */
function importsOf(outputs, path, found = new Set()) {
  for (const imported of outputs[path].imports) {
    if (imported.kind === 'import-statement' && !found.has(imported.path)) {
      found.add(imported.path);
      importsOf(outputs, imported.path, found);
    }
  }
  return [...found].sort();
}

/** The styles in the page itself. */
async function buildFirstPaint() {
  const { minify, target } = common;
  const css = readFileSync(join(folder, 'src', 'first-paint.css'), 'utf8');
  return (await esbuild.transform(css, { loader: 'css', minify, target })).code.trim();
}

/** Writes the files of a build. index.html comes last and old files go after it, so that a server finds a whole page. */
async function writeFiles(result) {
  const style = await buildStyles(result);
  const { outputs } = result.metafile;
  const entry = outputOf(outputs, 'src/main.tsx');
  mkdirSync(assets, { recursive: true });
  const names = new Set();
  for (const { path, contents } of [...result.outputFiles, style]) {
    const name = basename(path);
    names.add(name);
    // A name contains the hash of its file. A server may read the files while another build writes the same.
    if (!existsSync(join(assets, name))) {
      writeFileSync(join(assets, `${name}.${process.pid}`), contents);
      renameSync(join(assets, `${name}.${process.pid}`), join(assets, name));
    }
  }
  const urlOf = (path) => `/console/assets/${basename(path)}`;
  const preloads = importsOf(outputs, entry).map(
    (path) => `<link rel="modulepreload" href="${urlOf(path)}">`,
  );
  const values = {
    script: urlOf(entry),
    style: urlOf(style.path),
    colorScheme: urlOf(outputOf(outputs, 'src/color-scheme.ts')),
    preloads: preloads.join('\n    '),
    firstPaint: `<style nonce="{{nonce}}">${await buildFirstPaint()}</style>`,
  };
  // The server fills in the others.
  const page = readFileSync(join(folder, 'index.html'), 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (place, name) => values[name] ?? place,
  );
  writeFileSync(join(dist, `index.html.${process.pid}`), page);
  renameSync(join(dist, `index.html.${process.pid}`), join(dist, 'index.html'));
  for (const name of readdirSync(assets)) {
    if (/\.(js|css)$/.test(name) && !names.has(name)) {
      rmSync(join(assets, name), { force: true });
    }
  }
}

/**
 * Imports each widget from its own file. A screen that imports the index of the package would add its widgets to the
 * first load of all, because esbuild splits by the files that an entry reaches.
 */
const directImports = {
  name: 'direct-imports',
  setup({ onLoad }) {
    const index = join(
      dirname(fileURLToPath(import.meta.resolve('@mantine/core/styles.css'))),
      'esm/index.mjs',
    );
    const files = new Map();
    for (const [, names, path] of readFileSync(index, 'utf8').matchAll(
      /import \{([^}]*)\} from "([^"]+)"/g,
    )) {
      for (const name of names.split(',')) {
        const [exported, local = exported] = name.trim().split(' as ');
        files.set(local, { exported, path: path.startsWith('.') ? join(dirname(index), path) : path });
      }
    }
    onLoad({ filter: /(console.src|@mantine.spotlight).*\.(tsx?|mjs)$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8').replace(
        /import \{([^}]*)\} from ['"]@mantine\/core['"]/g,
        (_, names) =>
          names
            .split(',')
            .map((name) => name.trim())
            .filter((name) => name !== '' && !name.startsWith('type '))
            .map((name) => {
              const [imported, local = imported] = name.split(' as ');
              const file = files.get(imported);
              return file === undefined
                ? `import { ${name} } from '@mantine/core'`
                : `import { ${file.exported} as ${local} } from ${JSON.stringify(file.path)}`;
            })
            .join(';'),
      );
      return { contents: text, loader: path.endsWith('.tsx') ? 'tsx' : path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/** Numbers of the paths of icons, which are 15 pixels wide, with two digits after the point: a third of their size. */
const shortIcons = {
  name: 'short-icons',
  setup({ onLoad }) {
    onLoad({ filter: /react-icons.esm\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/ d: "[^"]+"/g, (text) =>
        text.replace(/\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2)))),
      ),
    }));
  },
};

/** For scripts and styles. */
const common = {
  absWorkingDir: folder,
  outdir: 'dist/assets',
  bundle: true,
  target: ['chrome115', 'firefox115', 'safari16.4'],
  minify: !flags.debug,
  legalComments: 'none',
  write: false,
  logLevel: 'warning',
};

const options = {
  ...common,
  entryPoints: ['src/main.tsx', 'src/color-scheme.ts'],
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  splitting: true,
  format: 'esm',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.css': 'empty' },
  metafile: true,
  plugins: [
    directImports,
    shortIcons,
    {
      name: 'write-files',
      setup: ({ onEnd }) => onEnd((result) => (result.errors.length === 0 ? writeFiles(result) : undefined)),
    },
  ],
};

if (flags.watch) {
  await (await esbuild.context(options)).watch();
  console.log('The console is built after each change. Ctrl+C ends.');
} else {
  await esbuild.build(options);
}
