/** Pictures as the API shows them. */
const url = { type: 'string', format: 'uri' } as const;
const size = { type: 'integer', description: 'Bytes that were received' } as const;
const imageUrl = { ...url, description: 'The picture in the format in which it was sent' } as const;
const thumbnailUrl = { ...url, description: 'A WebP that fits in 320 x 320 pixels' } as const;

export const ImageUploadResult = {
  title: 'ImageUploadResult',
  type: 'object',
  required: ['imageUrl', 'thumbnailUrl', 'size'],
  properties: { imageUrl, thumbnailUrl, size },
} as const;

export const CheeseImage = {
  title: 'CheeseImage',
  type: 'object',
  required: ['imageUrl', 'thumbnailUrl', 'size', 'caption', 'isPrimary', 'createdAt'],
  properties: {
    imageUrl,
    thumbnailUrl,
    size,
    caption: { type: ['string', 'null'] },
    isPrimary: { type: 'boolean', description: "It is the first of the cheese's photoUrls" },
    createdAt: { type: 'string', format: 'date-time' },
  },
} as const;

export const CheeseImageList = {
  title: 'CheeseImageList',
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: CheeseImage } },
} as const;
