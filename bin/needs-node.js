// Plain JavaScript, because it must also run on the Node versions it turns away. The platform packages among our
// optional dependencies put a new enough Node first on the PATH of `npm start`, `npm test` and `npx curd`.

const [major] = process.versions.node.split('.').map(Number);

if (major < 26) {
  console.error(
    `Curd runs on Node 26 or later, and this is Node ${process.versions.node}. ` +
      'Run "npm install" without --omit=optional, which brings a fitting Node along, and start Curd with ' +
      '"npm start" or "npx curd"; or install Node 26 from https://nodejs.org.',
  );
  process.exit(1);
}
