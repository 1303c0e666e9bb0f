/**
 * The edits of a cheese over its stored version. Changes of others appear in fields that were not edited; in edited ones,
 * saving asks which version is kept. Edits that were not saved are there again when somebody comes back to the cheese.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type CurdError, etagOf, isCurdError } from '../../../../../client/src/index.ts';
import { useCurd } from '../../../data/queries.ts';
import { keepDraft, readDraft } from '../../../session/drafts.ts';
import { messageOf } from '../../../session/session.ts';
import type { VersionedCheese } from '../queries.ts';
import {
  changedValues,
  type FormValues,
  formFieldOf,
  isRefused,
  isSameValue,
  numbersOf,
  refusedText,
  toChanges,
  valuesOf,
} from './form-values.ts';

interface Draft {
  /** The version that was edited. */
  readonly base: VersionedCheese;
  readonly edits: Partial<FormValues>;
}

export interface FormConflict {
  /** Numbers as such. */
  readonly mine: Readonly<Record<string, unknown>>;
  readonly theirs: Readonly<Record<string, unknown>>;
  readonly current: VersionedCheese;
}

/** The sentences of a refused change: those of fields by field and by its part in a list, and one for the rest. */
export function sentencesOf(error: unknown): { fields: Record<string, string>; general: string | null } {
  const errors = isCurdError(error) ? (error as CurdError).errors : [];
  const fields = Object.fromEntries(
    errors
      .filter(({ field }) => field !== '')
      .flatMap(({ field, message }) => [
        [formFieldOf(field), message],
        [field, message],
      ]),
  );
  return { fields, general: Object.keys(fields).length > 0 ? null : messageOf(error) };
}

export function useCheeseForm(server: VersionedCheese) {
  const curd = useCurd();
  const client = useQueryClient();
  const draftKey = `cheese ${server.cheese.id}`;
  const [draft] = useState(() => readDraft<Draft>(draftKey));
  const [base, setBase] = useState(draft?.base ?? server);
  const [edits, setEdits] = useState(draft?.edits ?? {});
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [conflict, setConflict] = useState<FormConflict | null>(null);

  const stored = valuesOf(base.cheese);
  const changes = changedValues(edits, stored);

  /** Edited fields that another person has changed to another value. */
  function contestedBy({ cheese }: VersionedCheese): (keyof FormValues)[] {
    const now = valuesOf(cheese);
    return (Object.keys(changes) as (keyof FormValues)[]).filter(
      (name) => !isSameValue(now[name], stored[name]) && !isSameValue(now[name], changes[name]),
    );
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is looked at once, when it arrives.
  useEffect(() => {
    if (contestedBy(server).length === 0) {
      setBase(server);
    }
  }, [server]);

  const isEdited = Object.keys(edits).length > 0;
  useEffect(() => {
    keepDraft(draftKey, isEdited ? { base, edits } : null);
  }, [draftKey, isEdited, base, edits]);

  async function save(version = base, wanted = changes): Promise<void> {
    if (Object.keys(wanted).length === 0 || isSaving) {
      return;
    }
    if (isRefused(wanted)) {
      setFailure(new Error(refusedText));
      return;
    }
    setSaving(true);
    setFailure(null);
    try {
      const cheese = await curd.cheeses.patch(version.cheese.id, toChanges(wanted), {
        ifMatch: version.etag,
      });
      const saved = { cheese, etag: etagOf(cheese) };
      client.setQueryData([`cheese ${cheese.id}`], saved);
      setBase(saved);
      setEdits({});
    } catch (error) {
      if (isCurdError(error, 'precondition_failed')) {
        await compare(version.cheese.id).catch(setFailure);
      } else {
        setFailure(error);
      }
    } finally {
      setSaving(false);
    }
  }

  /** Called after a refusal: asks about contested fields; where there are none, a second save has the new version. */
  async function compare(id: number): Promise<void> {
    const cheese = await curd.cheeses.get(id);
    const current = { cheese, etag: etagOf(cheese) };
    const names = contestedBy(current);
    const now = valuesOf(cheese);
    if (names.length === 0) {
      const again = await curd.cheeses.patch(id, toChanges(changes), { ifMatch: current.etag });
      setBase({ cheese: again, etag: etagOf(again) });
      setEdits({});
      return;
    }
    const pick = (from: Partial<FormValues>) => {
      const values = { ...from, ...numbersOf(from) };
      return Object.fromEntries(names.map((name) => [name, values[name]]));
    };
    setConflict({ mine: pick(changes), theirs: pick(now), current });
  }

  return {
    values: { ...stored, ...edits },
    isChanged: Object.keys(changes).length > 0,
    isSaving,
    failure,
    conflict,
    base,
    edit: (next: Partial<FormValues>) => setEdits({ ...edits, ...next }),
    discard(): void {
      setEdits({});
      setFailure(null);
      setBase(server);
    },
    save: () => save(),
    /** @param kept the contested fields whose own value is saved */
    resolve(kept: readonly string[]): void {
      if (conflict !== null) {
        const names = Object.keys(conflict.mine);
        const rest = Object.fromEntries(
          Object.entries(changes).filter(([name]) => !names.includes(name) || kept.includes(name)),
        );
        setConflict(null);
        setBase(conflict.current);
        setEdits(rest);
        void save(conflict.current, rest);
      }
    },
    closeConflict: () => setConflict(null),
  };
}
