/** The client package of this version, which npm installs from this server. */
import { readFile } from 'node:fs/promises';
import { AppError } from '../errors.ts';
import { Asset } from '../http/responses/asset.ts';
import { unavailableResponse } from '../http/responses/error-responses.ts';
import { revalidated } from '../http/responses/etag.ts';
import { type Route, route } from '../http/route.ts';

/** Written by client/build.js. */
const builtPackage = new URL('../../client/dist/client.tgz', import.meta.url);

/** @param file where the package is */
export function clientPackageRoute(file: URL = builtPackage): Route {
  let asset: Asset | undefined;
  return route({
    method: 'GET',
    path: '/client.tgz',
    operationId: 'getClientPackage',
    tag: 'Operation',
    summary: 'The client package for TypeScript and JavaScript',
    description: 'The version of `@curd/client` that fits this server: `npm install <server>/client.tgz`.',
    access: 'operational',
    mediaType: 'application/gzip',
    responses: {
      200: { description: 'The package, as npm packs it', mediaTypes: ['application/gzip'] },
      ...unavailableResponse('The package is not built'),
    },
    async handle() {
      try {
        asset ??= new Asset(await readFile(file));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
          throw error;
        }
        throw new AppError(
          'unavailable',
          'The client is not built: run "npm ci --omit=dev" or "npm run build" in Curd\'s folder.',
        );
      }
      return revalidated(asset);
    },
  });
}
