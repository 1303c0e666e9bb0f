// Plain JavaScript, because it must also run on old versions of Node. The platform packages among our optional
// dependencies put a supported Node first on the PATH of `npm start`, `npm test` and `npx curd`.

const [major] = process.versions.node.split('.').map(Number);

if (major < 26) {
  console.error(
    `Curd needs Node 26 or later, and this is Node ${process.versions.node}. ` +
      'Run "npm install" without --omit=optional, which installs a supported Node, and start Curd with ' +
      '"npm start" or "npx curd"; or install Node 26 from https://nodejs.org.',
  );
  process.exit(1);
}
