/** The rows of an imported file that has the mapped columns. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { identityMapping, type Mapping, resolveMapping } from './column-mapping.ts';
import { chooseFileFormat, type Format, readImportRows } from './file-formats.ts';
import { ImportError } from './import-error.ts';
import type { ImportRow } from './import-row.ts';

/** Other requests are processed at least this often while rows are parsed. */
const sliceMs = 10;

interface MappedFile {
  readonly mapping?: Mapping | undefined;
  readonly format?: Format | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a whole file without importing anything, so that a file that is broken at its end is refused before its beginning
 * is imported. @throws ImportError
 */
export async function checkImportFile(file: string, options: MappedFile, rowsMax: number): Promise<void> {
  let rows = 0;
  for await (const _ of readMappedRows(file, options)) {
    rows += 1;
    if (rows > rowsMax) {
      throw new ImportError('file', `The file has more than ${rowsMax} rows.`);
    }
  }
}

/**
 * The rows of a file that has the mapped columns. Lets other requests run in between.
 * @param noteColumns called with the columns of a table, or the members of the first object, and their mapping
 * @throws ImportError, or the reason of the signal
 */
export async function* readMappedRows(
  file: string,
  { mapping = identityMapping, format = chooseFileFormat(file), signal }: MappedFile,
  noteColumns: (columns: readonly string[], mapping: Mapping) => void = () => {},
): AsyncGenerator<ImportRow> {
  const pause = createPause();
  let hasRows = false;
  let hasColumns = false;
  for await (const read of readImportRows(file, format)) {
    signal?.throwIfAborted();
    const columns = read.columns ?? (read.row === null ? undefined : Object.keys(read.row));
    if (!hasColumns && columns !== undefined) {
      noteColumns(columns, resolveMapping(mapping, columns, format === 'csv'));
      hasColumns = true;
    }
    hasRows = true;
    yield read;
    await pause();
  }
  if (!hasRows) {
    throw new ImportError(
      'file',
      'The file has no rows with a value. Check that it is the right file, and that it was saved completely.',
    );
  }
}

/** Returns a function that waits for the next turn of the event loop when this turn was long. */
function createPause(): () => Promise<void> | undefined {
  let startedAt = performance.now();
  return () =>
    performance.now() - startedAt < sliceMs
      ? undefined
      : nextTurn().then(() => {
          startedAt = performance.now();
        });
}
