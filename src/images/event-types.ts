/** Events of images. */
import { defineEvent } from '../event-log/define.ts';
import { ImageUploadResult } from './schemas.ts';

/** Events of the subject `cheese:12`. */
export const imageEvents = {
  uploaded: defineEvent(
    'cheese.image_uploaded',
    'An image of a cheese was uploaded. The event cheese.updated with its photoUrls comes before',
    ImageUploadResult,
  ),
};
