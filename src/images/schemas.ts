/** Pictures as the API shows them. */
const example = {
  imageUrl:
    'https://cheese.example/images/c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a.jpg',
  thumbnailUrl:
    'https://cheese.example/images/9e1d5f1b7c1d4e6f8a90b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5061.webp',
  size: 482_113,
} as const;
const url = { type: 'string', format: 'uri' } as const;
const size = { type: 'integer', description: 'Bytes that were received' } as const;
const imageUrl = { ...url, description: 'The picture in the format in which it was sent' } as const;
const thumbnailUrl = { ...url, description: 'A WebP that fits in 320 x 320 pixels' } as const;

export const ImageUploadResult = {
  title: 'ImageUploadResult',
  type: 'object',
  required: ['imageUrl', 'thumbnailUrl', 'size'],
  properties: { imageUrl, thumbnailUrl, size },
  examples: [example],
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
  examples: [
    {
      ...example,
      caption: 'A wheel after nine months',
      isPrimary: true,
      createdAt: '2026-01-15T09:41:07.306Z',
    },
  ],
} as const;

export const CheeseImageList = {
  title: 'CheeseImageList',
  type: 'object',
  required: ['items'],
  properties: { items: { type: 'array', items: CheeseImage } },
  examples: [{ items: CheeseImage.examples }],
} as const;
