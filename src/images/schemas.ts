/** Schemas of images in responses. */
const example = {
  imageUrl:
    'https://cheese.example/images/c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a-9e1d5f1b7c1d4e6f8a90b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5061.jpg',
  thumbnailUrl:
    'https://cheese.example/images/9e1d5f1b7c1d4e6f8a90b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5061.webp',
  size: 482_113,
} as const;
const url = { type: 'string', format: 'uri' } as const;
const size = { type: 'integer', description: 'Size of the uploaded file in bytes' } as const;
const imageUrl = { ...url, description: 'The image in the format of the upload' } as const;
const thumbnailUrl = { ...url, description: 'A WebP of at most 320 x 320 pixels' } as const;

/** The response to an upload. */
export const ImageUploadResult = {
  title: 'ImageUploadResult',
  type: 'object',
  required: ['imageUrl', 'thumbnailUrl', 'size'],
  properties: { imageUrl, thumbnailUrl, size },
  examples: [example],
} as const;

/** One image of a cheese. */
export const CheeseImage = {
  title: 'CheeseImage',
  type: 'object',
  required: ['imageUrl', 'thumbnailUrl', 'size', 'caption', 'isPrimary', 'createdAt'],
  properties: {
    imageUrl,
    thumbnailUrl,
    size,
    caption: { type: ['string', 'null'] },
    isPrimary: { type: 'boolean', description: 'Whether it is the first of the photoUrls of the cheese' },
    createdAt: { type: 'string', format: 'date-time' },
  },
  examples: [
    {
      ...example,
      caption: 'A wheel after nine months',
      isPrimary: true,
      createdAt: '2026-01-15T09:41:07.306Z',
    },
  ],
} as const;

/** All images of a cheese. */
export const CheeseImageList = {
  title: 'CheeseImageList',
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: CheeseImage } },
  examples: [{ items: CheeseImage.examples }],
} as const;
