/** The edits of a cheese over its stored version, and the sentences of a refused change. */
import { useQueryClient } from '@tanstack/react-query';
import { type CurdError, isCurdError } from '../../../../../client/src/index.ts';
import { useCurd } from '../../../data/queries.ts';
import { useVersionedForm } from '../../../parts/forms/use-versioned-form.ts';
import { toMessage } from '../../../session/session.ts';
import { type VersionedCheese, withVersion } from '../queries.ts';
import { isRefused, refusedText, toChanges, toFormField, toFormValues } from './form-values.ts';

/** The sentences of a refused change: those of fields by field and by its part in a list, and one for the rest. */
export function toSentences(error: unknown): { fields: Record<string, string>; general: string | null } {
  const errors = isCurdError(error) ? (error as CurdError).errors : [];
  const fields = Object.fromEntries(
    errors
      .filter(({ field }) => field !== '')
      .flatMap(({ field, message }) => [
        [toFormField(field), message],
        [field, message],
      ]),
  );
  return { fields, general: Object.keys(fields).length > 0 ? null : toMessage(error) };
}

export function useCheeseForm(server: VersionedCheese) {
  const curd = useCurd();
  const client = useQueryClient();
  const { id } = server.cheese;
  return useVersionedForm({
    server,
    valuesOf: ({ cheese }) => toFormValues(cheese),
    read: async () => withVersion(await curd.cheeses.get(id)),
    patch: async ({ etag }, changes) =>
      withVersion(await curd.cheeses.patch(id, toChanges(changes), { ifMatch: etag })),
    onSaved: (saved) => client.setQueryData([`cheese ${id}`], saved),
    refuse: (changes) => (isRefused(changes) ? refusedText : null),
    draftKey: `cheese ${id}`,
  });
}
