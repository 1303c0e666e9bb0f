/** Refuses an import as a whole. */

/** The file or the mapping cannot be used. The caller adds how its interface names columns. */
export class ImportError extends Error {
  readonly field: 'file' | 'map';

  constructor(field: 'file' | 'map', message: string, options?: ErrorOptions) {
    super(message, options);
    this.field = field;
  }
}
