/** Uploads of files, with progress. */
import { type Api, parseBody, readText } from './api.ts';
import type { CallOptions } from './options.ts';
import type { Result } from './types.ts';

export interface UploadProgress {
  /** Bytes of the image. */
  readonly sent: number;
  /** The size of the image. */
  readonly total: number;
}

export interface UploadOptions extends CallOptions {
  readonly caption?: string | undefined;
  /** Puts the image first in `photoUrls`, instead of last. */
  readonly isPrimary?: boolean | undefined;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
}

export interface ImportOptions extends CallOptions {
  /** Columns of each field: `{ name: ['NameEn', 'NameFr'], origin: 'Country' }`. Default: they are named like fields. */
  readonly map?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** What happens to cheeses that exist: in `create`, the default, they stay as they are. */
  readonly mode?: 'create' | 'update' | undefined;
  /** True in mode `update`: `stockKg` sets the kilograms on hand of cheeses that exist. */
  readonly setStock?: boolean | undefined;
  /** Writes nothing. */
  readonly preview?: boolean | undefined;
  /** Default: by the name or the type of the file; text is CSV. */
  readonly format?: 'csv' | 'json' | 'ndjson' | undefined;
}

const formatTypes = { csv: 'text/csv', json: 'application/json', ndjson: 'application/x-ndjson' };

export async function importFile(
  api: Api,
  file: Blob | string,
  { map, mode, setStock, preview, format, ...options }: ImportOptions,
): Promise<Result<'importCheeses'>> {
  const text = typeof file === 'string' ? 'csv' : undefined;
  const known = format ?? text;
  const form = new FormData();
  if (known === undefined) {
    form.append('file', file as Blob);
  } else {
    form.append('file', new Blob([file], { type: formatTypes[known] }), `cheeses.${known}`);
  }
  const fields = { map: map === undefined ? undefined : JSON.stringify(map), mode, setStock, preview };
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) {
      form.append(name, String(value));
    }
  }
  const request = { ...api.requestOf('POST', '/v2/imports', {}), body: form };
  return parseBody(await api.http.send(request, options, readText), request);
}

const pieceBytes = 64 * 1024;

export async function uploadImage(
  api: Api,
  cheeseId: number,
  image: Blob,
  { caption, isPrimary, onProgress, ...options }: UploadOptions,
): Promise<Result<'uploadCheeseImage'>> {
  if (!(image instanceof Blob)) {
    throw new TypeError('The image must be a Blob, such as await openAsBlob(path).');
  }
  const form = new FormData();
  form.append('file', image);
  if (caption !== undefined) {
    form.append('caption', caption);
  }
  if (isPrimary !== undefined) {
    form.append('isPrimary', String(isPrimary));
  }
  const path = '/v2/cheeses/{cheeseId}/uploadImage';
  const request = { ...api.requestOf('POST', path, { path: { cheeseId } }), body: form };
  const sending = onProgress === undefined ? {} : { fetch: fetchWithProgress(image.size, onProgress) };
  const reply = await api.http.send({ ...request, ...sending }, options, readText);
  return parseBody(reply, request);
}

function fetchWithProgress(total: number, onProgress: (progress: UploadProgress) => void): typeof fetch {
  let reported = 0;
  // The body is a form, so more bytes are sent than the image has. A repetition starts again from zero.
  const report = (bytes: number) => {
    const sent = Math.min(bytes, total);
    if (sent > reported) {
      reported = sent;
      onProgress({ sent, total });
    }
  };
  // Browsers report no progress of an upload by fetch.
  const send = 'XMLHttpRequest' in globalThis ? fetchByXhr : fetchByStream;
  return (url, init = {}) => send(String(url), init, report);
}

/** Reports the bytes that the network has accepted. */
function fetchByStream(url: string, init: RequestInit, report: (bytes: number) => void): Promise<Response> {
  const form = new Response(init.body);
  const pieces = piecesOf(form.body as ReadableStream<Uint8Array>, report);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) {
        controller.close();
      } else {
        controller.enqueue(value);
      }
    },
  });
  const type = { 'content-type': form.headers.get('Content-Type') ?? '' };
  const headers = { ...(init.headers as Record<string, string>), ...type };
  return fetch(url, { ...init, body, headers, duplex: 'half' } as RequestInit);
}

/** A form can arrive as one large chunk, which would be a single report. */
async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  report: (bytes: number) => void,
): AsyncGenerator<Uint8Array, undefined, undefined> {
  let bytes = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
      const piece = chunk.subarray(at, at + pieceBytes);
      yield piece;
      bytes += piece.byteLength;
      report(bytes);
    }
  }
}

/** The part of XMLHttpRequest that is used here: servers have no such type. */
interface Xhr {
  status: number;
  responseText: string;
  readonly upload: { onprogress: (event: { readonly loaded: number }) => void };
  onload: () => void;
  onerror: () => void;
  onabort: () => void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}

function fetchByXhr(url: string, init: RequestInit, report: (bytes: number) => void): Promise<Response> {
  const { XMLHttpRequest } = globalThis as unknown as { readonly XMLHttpRequest: new () => Xhr };
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open(init.method ?? 'POST', url);
    for (const [name, value] of Object.entries(init.headers as Record<string, string>)) {
      xhr.setRequestHeader(name, value);
    }
    xhr.upload.onprogress = ({ loaded }) => report(loaded);
    xhr.onload = () => {
      const lines = xhr.getAllResponseHeaders().trim().split('\r\n');
      const headers = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
      resolve(new Response(xhr.responseText, { status: xhr.status, headers }));
    };
    xhr.onerror = () => reject(new TypeError('the upload failed'));
    xhr.onabort = () => reject(init.signal?.reason);
    init.signal?.addEventListener('abort', () => xhr.abort(), { once: true });
    xhr.send(init.body);
  });
}

/** The rule by which a shop names images: an image URL contains the name of its thumbnail. */
const imageUrl = /\/[0-9a-f]{64}-([0-9a-f]{64})\.(?:jpg|png|webp)$/;

/**
 * The URL of the thumbnail of an uploaded image, of at most 320 x 320 pixels, without a request. Other URLs have no
 * thumbnail, and are returned unchanged.
 * @param url of `photoUrls` or `imageUrl`
 */
export function thumbnailOf(url: string): string {
  return url.replace(imageUrl, '/$1.webp');
}
