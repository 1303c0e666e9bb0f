/** The client of this version: the package that npm installs from this server, and the module that web pages import. */
import { readFile } from 'node:fs/promises';
import { AppError } from '../errors.ts';
import { Asset } from '../http/responses/asset.ts';
import { documentedText, unavailableResponse } from '../http/responses/error-responses.ts';
import { revalidated } from '../http/responses/etag.ts';
import { type Route, route } from '../http/route.ts';

/** Written by client/build.js. */
const builtFiles = new URL('../../client/dist/', import.meta.url);

const notBuilt = unavailableResponse('The client is not built');

/**
 * A page starts with the copy that its browser has, for five minutes without a request and for a day while it asks for a
 * newer one. An update of the server is compatible with the module of the version before.
 */
const moduleCaching = 'public, max-age=300, stale-while-revalidate=86400';

/** @param folder where the files are */
export function clientPackageRoutes(folder: URL = builtFiles): Route[] {
  const builtPackage = fileReader(folder, 'client.tgz', (bytes) => new Asset(bytes));
  const builtModule = fileReader(folder, 'browser.js', (bytes) => new Asset(bytes.toString()));
  return [
    route({
      method: 'GET',
      path: '/client.tgz',
      operationId: 'getClientPackage',
      tag: 'Operation',
      summary: 'The client package for TypeScript and JavaScript',
      description:
        'The version of `@curd/client` that fits this server. Save the file in your repository and install it from there, so that `npm ci` needs no server.',
      access: 'operational',
      mediaType: 'application/gzip',
      responses: {
        200: { description: 'The package, as npm packs it', mediaTypes: ['application/gzip'] },
        ...notBuilt,
      },
      handle: async () => revalidated(await builtPackage()),
    }),
    route({
      method: 'GET',
      path: '/client/browser.js',
      operationId: 'getBrowserClient',
      tag: 'Operation',
      summary: 'The client for web pages without a build step',
      description:
        "`@curd/client/browser` as one module: `import { createShop } from '<server>/client/browser.js'`. Its ETag is its version.",
      access: 'operational',
      mediaType: 'text/javascript; charset=utf-8',
      responses: { 200: documentedText('The module', 'text/javascript'), ...notBuilt },
      handle: async () => revalidated(await builtModule(), { 'Cache-Control': moduleCaching }),
    }),
  ];
}

/** Reads a file once. @throws AppError unavailable while it does not exist */
function fileReader(folder: URL, name: string, toAsset: (bytes: Buffer) => Asset): () => Promise<Asset> {
  let asset: Asset | undefined;
  return async () => {
    try {
      asset ??= toAsset(await readFile(new URL(name, folder)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw error;
      }
      throw new AppError(
        'unavailable',
        'The client is not built: run "npm ci --omit=dev" or "npm run build" in Curd\'s folder.',
      );
    }
    return asset;
  };
}
