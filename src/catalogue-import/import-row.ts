/** Rows as the readers of each file format return them. */
import type { SourceRow } from './column-mapping.ts';

export interface ImportRow {
  /** Position in the file: `line 12`, or `element 3` of a JSON array. */
  readonly place: string;
  /** The number in `place`. */
  readonly line: number;
  /** null, with a reason, when the line cannot be read. */
  readonly row: SourceRow | null;
  readonly reason?: string;
  /** The header of a table. Elements of JSON have members instead. */
  readonly columns?: readonly string[];
  /** Bytes of the file that were read so far. */
  readonly bytesRead: number;
}

/** The largest row. It is parsed in one piece, during which the server does nothing else. */
export const rowBytesMax = 1024 * 1024;
