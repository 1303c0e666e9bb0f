/** Stored resources with a version, and the condition under which a request may change one. */

/** A resource as the JSON that responses contain, and the version that its ETag contains. */
export interface Versioned {
  readonly id: number;
  readonly version: number | string;
  readonly body: string;
}

/** Throws an AppError when the stored version is not one that the client named in If-Match. */
export type Precondition = (version: number | string) => void;
