/** Reads the fields that the form of a page submits. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';
import { isUtf8 } from '../bodies/body.ts';

const formBytesMax = 16 * 1024;

/** Each field may occur once. @throws AppError unsupportedMediaType, payloadTooLarge, badRequest */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const { 'content-type': contentType = '' } = request.headers;
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType) || !isUtf8(contentType)) {
    throw new AppError(
      'unsupportedMediaType',
      'Send the fields of the form as application/x-www-form-urlencoded, in UTF-8.',
      {
        details: { accepts: ['application/x-www-form-urlencoded'] },
      },
    );
  }
  const form = new URLSearchParams(await readText(request));
  if (new Set(form.keys()).size !== form.size) {
    throw new AppError('badRequest', 'The form contains a field twice. Send each field once.');
  }
  return form;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > formBytesMax) {
        throw new AppError('payloadTooLarge', `The form is larger than ${formBytesMax} bytes.`, {
          details: { isBodyUnread: true },
        });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof AppError
      ? error
      : new AppError(
          'badRequest',
          'The connection ended before the whole form arrived. Send the form again.',
        );
  }
  return Buffer.concat(chunks).toString('utf8');
}
