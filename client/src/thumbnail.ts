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
