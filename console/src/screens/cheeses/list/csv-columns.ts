/** The columns of the list of cheeses as a CSV file, which the import knows. */
import type { Cheese } from '../../../../../client/src/index.ts';
import type { CsvColumns } from '../../../parts/tables/csv.ts';
import { type CheeseField, importFields, toCsvValue } from '../fields.ts';

const fields = importFields.filter((field): field is CheeseField => field !== 'stockKg');

export const csvColumns: CsvColumns<Cheese> = {
  id: ({ id }) => id,
  ...Object.fromEntries(fields.map((field) => [field, (cheese: Cheese) => toCsvValue(cheese, field)])),
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
};
