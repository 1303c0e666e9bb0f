/** Compressed request bodies are refused: a small one could become very large. */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../errors.ts';

/** @throws AppError unsupportedMediaType when the body has an encoding (RFC 9110, section 8.4) */
export function refuseContentEncoding(headers: IncomingHttpHeaders): void {
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new AppError('unsupportedMediaType', 'Send the body without Content-Encoding.', {
      details: { acceptsEncodings: ['identity'] },
    });
  }
}
