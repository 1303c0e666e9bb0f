/**
 * Forms with one file (multipart/form-data, RFC 7578), parsed as a stream: the file is written to disk, so that many
 * uploads at once need little memory. Of the file name that a client sends, only the extension is used.
 *
 * The parser is Dicer. Busboy, of the same package, reports `text/plain` for a part without a Content-Type and skips
 * parts without a Content-Disposition, but here the first must be known and the second is 422.
 */
import { open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MIMEType } from 'node:util';
import { Dicer } from '@fastify/busboy';
import { AppError, type FieldError, unavailable, validationError } from '../../errors.ts';
import { sha256OfFile } from '../../files/digest.ts';
import type { ReceivedFile } from '../../files/received-file.ts';
import { isUtf8, refuseContentEncoding } from './body.ts';

/** The longest text fields have a few hundred characters. */
const fieldBytesMax = 8192;
const partsMax = 20;
/** Everything in a form except the file. */
const restBytesMax = 512 * 1024;
const headerLimits = { maxHeaderPairs: 20, maxHeaderSize: 4096 };

export interface ReceivedForm {
  /** null when no part has the name of the file's field. */
  readonly file: ReceivedFile | null;
  readonly fields: URLSearchParams;
  /** Names of other parts that contain a file, each once. */
  readonly misplaced: readonly string[];
}

/** The name of the file's field, its largest size, and where the file is written. */
export interface FormPlan {
  readonly fileField: string;
  readonly fileBytesMax: number;
  readonly path: string;
}

/**
 * Receives a form. After an error the rest of the request is not read: call `drain`.
 * @throws AppError unsupportedMediaType, payloadTooLarge, validation; unavailable when the disk is full
 */
export async function receiveMultipart(request: IncomingMessage, plan: FormPlan): Promise<ReceivedForm> {
  const parser = new Dicer({ boundary: boundaryOf(request), ...headerLimits });
  const parts: Readable[] = [];
  const files: Promise<ReceivedFile>[] = [];
  const texts: Promise<[string, string]>[] = [];
  const misplaced = new Set<string>();

  const parsed = new Promise<void>((resolve, reject) => {
    const cutOff = () => reject(brokenForm('the form ends in the middle'));
    if (request.destroyed) {
      // Its events were emitted before there was a listener.
      cutOff();
      return;
    }

    function addPart(part: Readable, headers: Readonly<Record<string, string[]>>): void {
      const { name, isFile, extension } = parseDisposition(headers['content-disposition']?.[0]);
      parts.push(part);
      if (parts.length > partsMax) {
        reject(brokenForm(`the form has more than ${partsMax} parts`));
      } else if (name === plan.fileField && files.length === 0) {
        const mediaType = mediaTypeOf(headers['content-type']?.[0]);
        const file = saveFile(part, { mediaType, extension }, plan);
        files.push(file);
        file.catch(reject);
      } else if (name === plan.fileField) {
        reject(validationError([{ field: name, message: 'send one file only' }]));
      } else if (isFile) {
        // Refused later: only the end of the form shows whether the right part is missing too.
        misplaced.add(name);
        part.resume();
      } else {
        const text = readText(part, name).then((value): [string, string] => [name, value]);
        texts.push(text);
        text.catch(reject);
      }
    }

    parser.on('part', (part) => {
      // The reader of the part handles its errors, and the parser reports them too.
      part.on('error', () => {});
      part.on('header', (headers: object) => addPart(part, headers as Record<string, string[]>));
    });
    parser.on('finish', () => resolve());
    parser.on('error', cutOff);
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > plan.fileBytesMax + restBytesMax) {
        reject(
          new AppError(
            'payloadTooLarge',
            `The form is too large: its file may have ${mebibytes(plan.fileBytesMax)}, and everything else in it ${mebibytes(restBytesMax)}.`,
          ),
        );
      }
    });
    // The client has closed the connection, but the work that was started must end.
    request.once('error', cutOff);
    request.once('close', () => request.readableEnded || cutOff());
    request.pipe(parser);
  });

  try {
    await parsed;
    const [file = null] = await Promise.all(files);
    return { file, fields: new URLSearchParams(await Promise.all(texts)), misplaced: [...misplaced] };
  } catch (error) {
    request.unpipe(parser);
    for (const part of parts) {
      part.destroy();
    }
    await Promise.allSettled(files);
    throw error;
  }
}

/**
 * Reads the rest of a request and discards it, because many clients read the response only after they have sent the
 * whole body. After `bytesMax` bytes the connection is closed.
 */
export function drain(request: IncomingMessage, bytesMax: number): void {
  let left = bytesMax;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) {
      request.destroy();
    }
  });
  request.on('error', () => {});
  request.resume();
}

/** @throws AppError unsupportedMediaType when the body is not a form, validation when the form has no boundary */
function boundaryOf({ headers }: IncomingMessage): string {
  const contentType = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType) || !isUtf8(contentType)) {
    throw new AppError('unsupportedMediaType', 'Send the file in a form: multipart/form-data, in UTF-8.', {
      details: { accepts: ['multipart/form-data'] },
    });
  }
  refuseContentEncoding(headers);
  const boundary = mediaTypeParameters(contentType)?.get('boundary') ?? '';
  // RFC 2046, section 5.1.1.
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary)) {
    throw brokenForm('the Content-Type names no boundary of 1 to 70 characters: let your HTTP client set it');
  }
  return boundary;
}

async function saveFile(
  part: Readable,
  declared: Pick<ReceivedFile, 'mediaType' | 'extension'>,
  plan: FormPlan,
): Promise<ReceivedFile> {
  let bytes = 0;
  let head: Buffer = Buffer.alloc(0);

  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > plan.fileBytesMax) {
        throw new AppError('payloadTooLarge', `The file is larger than ${mebibytes(plan.fileBytesMax)}.`);
      }
      if (head.length < 16) {
        head = Buffer.concat([head, chunk.subarray(0, 16)]);
      }
      yield chunk;
    }
  }

  try {
    // Opened first: a stream that is destroyed while it opens would create its file after the caller has deleted it.
    const file = await open(plan.path, 'wx', 0o600);
    await pipeline(part, counted, file.createWriteStream());
  } catch (error) {
    throw toSaveError(error);
  }
  return { path: plan.path, ...declared, bytes, digest: () => sha256OfFile(plan.path), head };
}

/** Errors of the disk have a system call; all others are errors of the form. */
function toSaveError(error: unknown): AppError {
  if (error instanceof AppError) {
    return error;
  }
  return (error as NodeJS.ErrnoException).syscall === undefined
    ? brokenForm('the form ends in the middle')
    : cannotStore(error);
}

async function readText(part: Readable, field: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of part) {
    bytes += chunk.length;
    if (bytes > fieldBytesMax) {
      throw validationError([{ field, message: `must have at most ${fieldBytesMax} bytes` }]);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseDisposition(header: string | undefined): {
  readonly name: string;
  readonly isFile: boolean;
  readonly extension: string;
} {
  // Its parameters have the grammar of the parameters of media types.
  const parameters = mediaTypeParameters(`x/${header ?? ''}`);
  const isForm = /^form-data\s*(;|$)/i.test(header ?? '');
  return {
    name: (isForm && utf8(parameters?.get('name') ?? null)) || '',
    extension: /\.([a-z0-9]{1,10})$/i.exec(parameters?.get('filename') ?? '')?.[1]?.toLowerCase() ?? '',
    isFile: parameters?.has('filename') === true || parameters?.has('filename*') === true,
  };
}

function mediaTypeOf(header: string | undefined): string | null {
  return header === undefined ? null : (header.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function mediaTypeParameters(mediaType: string): MIMEType['params'] | undefined {
  try {
    return new MIMEType(mediaType).params;
  } catch {
    return undefined;
  }
}

/** The parser returns each byte of a header as one character. */
function utf8(text: string | null): string | null {
  return text === null ? null : Buffer.from(text, 'latin1').toString('utf8');
}

function brokenForm(message: string): AppError {
  const errors: FieldError[] = [{ field: '', message }];
  return new AppError('validation', `The form cannot be read: ${message}.`, { errors });
}

function mebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}

/** A full disk, or a folder that cannot be written. */
export function cannotStore(cause: unknown): AppError {
  return unavailable('The file cannot be stored right now. Try again shortly.', 5, cause);
}
