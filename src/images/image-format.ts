/** The accepted image formats, and how they are detected. */

import type { ImageFormat } from '../children/image-child.ts';
import { AppError } from '../errors.ts';
import type { ReceivedFile } from '../files/received-file.ts';

export type { ImageFormat };

/** First bytes of the accepted formats, as regular expressions over Latin-1. */
const signatures: readonly (readonly [ImageFormat, RegExp])[] = [
  ['jpeg', /^\xff\xd8\xff/],
  ['png', /^\x89PNG\r\n\x1a\n/],
  ['webp', /^RIFF[\s\S]{4}WEBP/],
];

/** What clients declare if they do not know the format. */
const anyTypes = ['application/octet-stream', 'binary/octet-stream', 'image/*'];
/** Media types that no standard has, and that browsers, cameras and operating systems have used all the same. */
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/jfif': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-jpeg': 'image/jpeg',
  'image/x-jpg': 'image/jpeg',
  'image/x-citrix-jpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-citrix-png': 'image/png',
  'image/x-webp': 'image/webp',
};
const acceptedTypes = ['image/jpeg', 'image/png', 'image/webp'];

/**
 * The format of an uploaded file. Both its first bytes and its declared media type must match.
 * @throws AppError unsupportedMediaType
 */
export function detectImageFormat({ bytes, head, mediaType }: ReceivedFile): ImageFormat {
  if (bytes === 0) {
    throw unsupportedImage('The file is empty.');
  }
  const declared =
    mediaType === null || anyTypes.includes(mediaType) ? null : (aliases[mediaType] ?? mediaType);
  if (declared !== null && !acceptedTypes.includes(declared)) {
    throw unsupportedImage(`The file is declared as ${truncate(declared)}.`);
  }
  const [format] = signatures.find(([, signature]) => signature.test(head.toString('latin1'))) ?? [];
  if (format === undefined) {
    throw unsupportedImage('The file does not start like a JPEG, PNG or WebP image.');
  }
  if (declared !== null && declared !== `image/${format}`) {
    throw unsupportedImage(`The file is declared as ${mediaType}, but it is image/${format}.`);
  }
  return format;
}

/** 415 with what happened and what to do. */
function unsupportedImage(reason: string): AppError {
  return new AppError('unsupportedMediaType', `${reason} Send a JPEG, a PNG or a WebP.`);
}

function truncate(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
