/** An uploaded file that is on disk and not stored yet. */
export interface ReceivedFile {
  readonly path: string;
  /**
   * The media type that the part of the form declares, in lower case, with no parameters. null if it has no
   * Content-Type.
   */
  readonly mediaType: string | null;
  /** The end of the file name that the client sends, in lower case: `csv`. Empty without one. */
  readonly extension: string;
  readonly bytes: number;
  /** SHA-256, in hex. */
  readonly digest: () => Promise<string>;
  /** The first bytes, which show the format. */
  readonly head: Buffer;
}
