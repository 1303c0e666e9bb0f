/** What the schema of a bulk change cannot check. */
import { addError, type FieldError, validationError } from '../../errors.ts';
import { type BulkChange, type BulkInput, bulkCheesesMax } from './schemas.ts';

const exclusive = ['set', 'percent', 'amount'] as const;

/** @throws AppError validation */
export function requireValid({ changes }: BulkInput): void {
  const errors: FieldError[] = [];
  const known = new Set<number>();
  let cheeses = 0;
  for (const [index, change] of changes.entries()) {
    const at = `changes[${index}]`;
    cheeses += change.cheeseIds.length;
    for (const [position, id] of change.cheeseIds.entries()) {
      if (known.has(id)) {
        addError(errors, `${at}.cheeseIds[${position}]`, 'is in the request already');
      }
      known.add(id);
    }
    checkChange(errors, at, change);
  }
  if (cheeses > bulkCheesesMax) {
    addError(errors, 'changes', `must have ${bulkCheesesMax} cheeses together at most, and has ${cheeses}`);
  }
  if (errors.length > 0) {
    throw validationError(errors);
  }
}

function checkChange(errors: FieldError[], at: string, { cheeseIds: _, ...change }: BulkChange): void {
  const { price, tags, addTags, removeTags } = change;
  if (Object.keys(change).length === 0) {
    addError(errors, at, 'changes nothing: add price, status, category, tags, addTags or removeTags');
  }
  if (price !== undefined && exclusive.filter((name) => price[name] !== undefined).length !== 1) {
    addError(errors, `${at}.price`, 'must have one of set, percent and amount');
  }
  if (price?.set !== undefined && price.rounding !== undefined) {
    addError(errors, `${at}.price.rounding`, 'is for percent and amount: set is not rounded');
  }
  if (tags !== undefined && (addTags !== undefined || removeTags !== undefined)) {
    addError(errors, `${at}.tags`, 'cannot be sent together with addTags and removeTags');
  }
}
