/** Routes that upload, list and return images. */
import { anyOf, apiKey, oauth } from '../access/access.ts';
import { cheeseTag } from '../cheeses/cache-tags.ts';
import { cheeseId, cheeseIfMatch, noCheese } from '../cheeses/routes.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { AppError } from '../errors.ts';
import type { ByteRange } from '../files/files.ts';
import {
  documentedText,
  notFoundResponse,
  payloadTooLargeResponse,
  preconditionFailedResponse,
  rangeNotSatisfiableResponse,
  unprocessableResponse,
  unsupportedMediaTypeResponse,
} from '../http/responses/error-responses.ts';
import { keptForever, matchesIfNoneMatch, strongTag, toPrecondition } from '../http/responses/etag.ts';
import { isRangeWanted, parseRange } from '../http/responses/range.ts';
import { FileBody, type RouteResponse } from '../http/responses/response.ts';
import { type Route, route } from '../http/route.ts';
import { multilineRule } from '../schema/text-rules.ts';
import { detectImageFormat } from './image-format.ts';
import { CheeseImageList, ImageUploadResult } from './schemas.ts';
import type { ImageService } from './service.ts';

const tag = 'Cheeses';
const fileField = 'file';
const imageTypes = ['image/jpeg', 'image/png', 'image/webp'];
/** Largest file that can be uploaded. */
export const imageBytesMax = 10 * 1024 * 1024;

interface Dependencies {
  readonly cheeses: CheeseService;
  readonly images: ImageService;
  /** The public URL of a file. */
  readonly urlOf: (name: string) => string;
  /** Whether the public URL is on another server. Requests for images are redirected there. */
  readonly isRedirecting: boolean;
}

/** The routes of this area. */
export function imageRoutes({ cheeses, images, urlOf, isRedirecting }: Dependencies): Route[] {
  return [
    route({
      method: 'POST',
      dryRun: 'none',
      path: '/cheeses/:cheeseId/uploadImage',
      operationId: 'uploadCheeseImage',
      tag,
      summary: 'Upload an image',
      description:
        'The image is stored upright and without metadata, with a thumbnail of at most 320 x 320 pixels. The content of an image URL never changes.',
      replay: 'beforeWork',
      access: anyOf(oauth('write:cheeses')),
      headers: cheeseIfMatch,
      upload: {
        fileField,
        fileBytesMax: imageBytesMax,
        description:
          'A JPEG, PNG or WebP image of at most 10 MiB and 40 megapixels. A JPEG that is not progressive can have 200; above 40 it is stored with a half or a quarter of its width',
        fields: {
          caption: {
            type: 'string',
            maxLength: 500,
            rule: multilineRule,
            description: 'Shown in the list of images',
          },
          isPrimary: {
            type: 'boolean',
            default: false,
            description: 'Puts the image first in photoUrls, instead of last',
          },
        },
      },
      storesPlainResponse: true,
      responses: {
        200: {
          description: 'The image was stored and added to photoUrls',
          schema: ImageUploadResult,
        },
        ...noCheese,
        ...preconditionFailedResponse,
        ...payloadTooLargeResponse('The file is larger than 10 MiB'),
        ...unsupportedMediaTypeResponse(
          'The body is not a form, or the file is not an image in an accepted format',
        ),
        ...unprocessableResponse,
      },
      handle: async ({ params, headers, receive, withIdempotency }) => {
        const { id } = await cheeses.find(cheeseId(params));
        const form = await receive();
        if (form.file !== null) {
          // Checked before the form is validated, because 415 comes before 422.
          detectImageFormat(form.file);
        }
        const { file, fields } = form.validated();
        const { path, bytes: size } = file;
        const { caption = '', isPrimary } = fields;
        return withIdempotency(
          async (context) => {
            const stored = await images.store(path, detectImageFormat(file));
            const image = {
              cheeseId: id,
              ...stored,
              size,
              caption: caption || null,
              isPrimary,
              urlOf,
            };
            return images.attach(context, image, toPrecondition(headers['if-match']));
          },
          ({ imageName, thumbnailName }) => ({
            status: 200,
            body: { imageUrl: urlOf(imageName), thumbnailUrl: urlOf(thumbnailName), size },
          }),
        );
      },
    }),
    route({
      method: 'GET',
      path: '/cheeses/:cheeseId/images',
      operationId: 'listCheeseImages',
      tag,
      summary: 'List the uploaded images of a cheese',
      description:
        'Images that were uploaded to this server. `photoUrls` of the cheese can also contain other URLs.',
      access: anyOf(apiKey, oauth('read:cheeses')),
      permitsConfined: true,
      publishable: 'catalogue',
      responses: {
        200: { description: 'The images, in the order of upload', schema: CheeseImageList },
        ...noCheese,
      },
      handle: async ({ params }) => {
        const id = cheeseId(params);
        const items = await images.list(id);
        return {
          status: 200,
          cacheTags: [cheeseTag(id)],
          body: {
            items: items.map(({ imageName, thumbnailName, ...rest }) => ({
              imageUrl: urlOf(imageName),
              thumbnailUrl: urlOf(thumbnailName),
              ...rest,
            })),
          },
        };
      },
    }),
    route({
      method: 'GET',
      path: '/images/:name',
      operationId: 'getImage',
      tag,
      summary: 'Get an image',
      description:
        'Anyone can read it, without a credential. A name belongs to one content forever, so it can be cached. Ranges are supported.',
      access: 'operational',
      examples: { name: 'c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a.webp' },
      responses: {
        200: documentedText('The image', ...imageTypes),
        206: documentedText('The requested range', ...imageTypes),
        302: { description: 'Redirect to the storage that serves the images, if one is configured' },
        ...notFoundResponse('The image does not exist'),
        ...rangeNotSatisfiableResponse('The image ends before the requested range'),
      },
      handle: async ({ params, headers }) => {
        const file = await images.findFile(params.name ?? '');
        if (file === undefined) {
          throw noImage();
        }
        const { name, bytes, media_type } = file;
        if (isRedirecting) {
          return { status: 302, headers: { Location: urlOf(name), 'Cache-Control': 'public, max-age=3600' } };
        }
        const tag = strongTag(name);
        const response = {
          status: 200,
          headers: { ...imageHeaders, ETag: tag, 'Content-Type': media_type },
        };
        if (matchesIfNoneMatch(headers['if-none-match'], tag)) {
          return { ...response, status: 304 };
        }
        const range = isRangeWanted(headers['if-range'], tag) ? parseRange(headers.range, bytes) : null;
        return fileResponse(response, bytes, range, async () => {
          const content = await images.readFile(name, range);
          if (content === null) {
            throw noImage();
          }
          return content;
        });
      },
    }),
  ];
}

/** The content of a name never changes. If a browser takes an image for a page, the policy blocks all scripts in it. */
const imageHeaders = {
  ...keptForever,
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Accept-Ranges': 'bytes',
};

function fileResponse(
  response: RouteResponse,
  bytes: number,
  range: ByteRange | null,
  open: ConstructorParameters<typeof FileBody>[0],
): RouteResponse {
  if (range === null) {
    return {
      ...response,
      headers: { ...response.headers, 'Content-Length': String(bytes) },
      body: new FileBody(open),
    };
  }
  const { first, last } = range;
  return {
    status: 206,
    headers: {
      ...response.headers,
      'Content-Length': String(last - first + 1),
      'Content-Range': `bytes ${first}-${last}/${bytes}`,
    },
    body: new FileBody(open),
  };
}

function noImage(): AppError {
  return new AppError('notFound', 'The image does not exist. Check its URL.');
}
