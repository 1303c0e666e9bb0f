/**
 * Names of image files. A name begins with the SHA-256 of the content. That of an image also contains the one of its
 * thumbnail, so that a client finds the thumbnail without a request: `<image>-<thumbnail>.jpg` has `<thumbnail>.webp`.
 */

const wholeName = /^[0-9a-f]{64}(-[0-9a-f]{64})?\.(jpg|png|webp)$/;
const digestLength = 64;

export function isFileName(text: string): boolean {
  return wholeName.test(text);
}

/** The SHA-256 that the content must have, in hex. */
export function digestInName(name: string): string {
  return name.slice(0, digestLength);
}

/** The name of an image, from its content and its thumbnail. */
export function toImageName(imageDigest: string, thumbnailName: string, extension: string): string {
  return `${imageDigest}-${digestInName(thumbnailName)}.${extension}`;
}
