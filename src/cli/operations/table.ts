/** The operations of the API that are commands. What the table does not state follows from the schemas of the API. */
import { accessOperations } from './access-operations.ts';
import { integrationOperations } from './integration-operations.ts';
import type { OperationCommand } from './operation.ts';
import { sellingOperations } from './selling-operations.ts';
import { shopOperations } from './shop-operations.ts';

export const operationTable: readonly OperationCommand[] = [
  ...accessOperations,
  ...shopOperations,
  ...sellingOperations,
  ...integrationOperations,
];
