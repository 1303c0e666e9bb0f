/** Opens files as text: UTF-8, or UTF-16 with a byte order mark, which spreadsheets and scripts of Windows write. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { ImportError } from './import-error.ts';

/** Enough for the first line of a table. */
const headBytes = 65_536;
/** A reader takes up to a microsecond for a byte, and lets other requests run after each chunk. */
const chunkBytes = 16_384;

interface TextFile {
  /** Its beginning, without the byte order mark. */
  readonly head: string;
  /** All of it, in chunks. Bytes that are not valid are U+FFFD. */
  readonly text: AsyncIterable<string>;
  /** Bytes of the file that were read so far. */
  bytesRead(): number;
}

/** What the first bytes of other files are, each with what the file is and the remedy. */
const otherFiles: readonly (readonly [start: RegExp, refusal: string])[] = [
  [
    /^PK[\x03\x05]/,
    'is a workbook of a spreadsheet or another ZIP file. Save the sheet as CSV in UTF-8, and send that file',
  ],
  [/^\xd0\xcf\x11\xe0/, 'is an old workbook of Excel. Save the sheet as CSV in UTF-8, and send that file'],
  [/^\x1f\x8b/, 'is compressed. Decompress it first'],
  [
    /^(?:\xef\xbb\xbf)?\s*<[!?a-z]/i,
    'is a web page or XML. Export the table as CSV, or open it in a spreadsheet and save it as CSV in UTF-8',
  ],
];

/** @throws ImportError when the file is not text */
export async function openTextFile(file: string): Promise<TextFile> {
  const start = await readStart(file);
  const encoding = encodingOf(start);
  const bytes = start.toString('latin1');
  const other = otherFiles.find(([pattern]) => pattern.test(bytes));
  if (other !== undefined) {
    throw new ImportError('file', `The file ${other[1]}.`);
  }
  const head = new TextDecoder(encoding).decode(start);
  if (head.includes('\0')) {
    throw new ImportError('file', 'The file is not text, because it contains zero bytes. Save it as UTF-8.');
  }
  const source = createReadStream(file, { highWaterMark: chunkBytes });
  return { head, text: decode(source, encoding), bytesRead: () => source.bytesRead };
}

async function readStart(file: string): Promise<Buffer> {
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.subarray(0, bytesRead);
}

function encodingOf(start: Buffer): string {
  const mark = start.toString('hex', 0, 2);
  return mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8';
}

/** Leaves the byte order mark out. */
async function* decode(source: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of source) {
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}
