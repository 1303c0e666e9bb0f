/** The columns of the list of cheeses as a CSV file, which the import knows. */
import type { Cheese } from '../../../../../client/src/index.ts';
import type { CsvColumns } from '../../../parts/tables/csv.ts';

export const csvColumns: Readonly<Record<keyof Cheese, CsvColumns<Cheese>[string]>> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  category: ({ category }) => category?.name,
  tags: ({ tags }) => tags.map(({ name }) => name).join(','),
  status: ({ status }) => status,
  origin: ({ origin }) => origin,
  pricePerKg: ({ pricePerKg }) => pricePerKg,
  ageMonths: ({ ageMonths }) => ageMonths,
  organic: ({ organic }) => organic,
  portions: ({ portions = [] }) =>
    portions.map(({ grams, name }) => (name === undefined ? grams : `${grams} g ${name}`)).join('; '),
  photoUrls: ({ photoUrls }) => photoUrls.join('\n'),
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
};
