/**
 * The edits of something over its stored version. Changes of others appear in fields that were not edited; about edited
 * ones, saving asks which version is kept.
 */
import { useEffect, useState } from 'react';
import { isCurdError } from '../../../../client/src/index.ts';
import { keepDraft, readDraft } from '../../session/drafts.ts';
import { onRefused } from '../../session/session.ts';
import { changedValues, contestedNames } from './changed-values.ts';

interface Options<Version, Values extends object> {
  /** The version that was read last. */
  readonly server: Version;
  readonly valuesOf: (version: Version) => Values;
  readonly read: () => Promise<Version>;
  /** Changes a version. @throws CurdError precondition_failed if it is not the current one */
  readonly patch: (version: Version, changes: Partial<Values>) => Promise<Version>;
  readonly onSaved: (version: Version) => void;
  /** Why changes cannot be sent; null if they can. */
  readonly refuse?: (changes: Partial<Values>) => string | null;
  /** Edits under this name are there again when somebody comes back. */
  readonly draftKey?: string;
}

interface Draft<Version, Values> {
  /** The version that was edited. */
  readonly base: Version;
  readonly edits: Partial<Values>;
}

export function useVersionedForm<Version, Values extends object>(options: Options<Version, Values>) {
  const { server, valuesOf, read, patch, onSaved, refuse, draftKey } = options;
  const [draft] = useState(() =>
    draftKey === undefined ? undefined : readDraft<Draft<Version, Values>>(draftKey),
  );
  const [base, setBase] = useState(draft?.base ?? server);
  const [edits, setEdits] = useState<Partial<Values>>(draft?.edits ?? {});
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [conflict, setConflict] = useState<Version | null>(null);

  const stored = valuesOf(base);
  const changes = changedValues(edits, stored);
  const contestedBy = (version: Version) => contestedNames(changes, stored, valuesOf(version));

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is looked at once, when it arrives.
  useEffect(() => {
    if (contestedBy(server).length === 0) {
      setBase(server);
    }
  }, [server]);

  const isEdited = Object.keys(edits).length > 0;
  useEffect(() => {
    if (draftKey !== undefined) {
      keepDraft(draftKey, isEdited ? { base, edits } : null);
    }
  }, [draftKey, isEdited, base, edits]);

  async function send(version: Version, wanted: Partial<Values>): Promise<void> {
    const saved = await patch(version, wanted);
    if (draftKey !== undefined) {
      // The page of something new is left at once.
      keepDraft(draftKey, null);
    }
    onSaved(saved);
    setBase(saved);
    setEdits({});
  }

  /** Asks about contested fields after a refusal. If there are none, the changes are for the new version. */
  async function sendAgain(wanted: Partial<Values>): Promise<void> {
    const current = await read();
    if (contestedBy(current).length > 0) {
      setConflict(current);
    } else {
      await send(current, wanted);
    }
  }

  async function save(version = base, wanted = changes): Promise<void> {
    if (Object.keys(wanted).length === 0 || isSaving) {
      return;
    }
    const refused = refuse?.(wanted) ?? null;
    if (refused !== null) {
      setFailure(new Error(refused));
      return;
    }
    setSaving(true);
    setFailure(null);
    try {
      await send(version, wanted).catch((error: unknown) => {
        if (isCurdError(error, 'precondition_failed')) {
          return sendAgain(wanted);
        }
        throw error;
      });
    } catch (error) {
      onRefused(error);
      setFailure(error);
    } finally {
      setSaving(false);
    }
  }

  /** @param kept the contested fields whose own value is saved */
  function resolve(version: Version, kept: readonly string[]): void {
    const contested = contestedBy(version);
    const rest = Object.fromEntries(
      Object.entries(changes).filter(
        ([name]) => !contested.includes(name as keyof Values) || kept.includes(name),
      ),
    ) as Partial<Values>;
    setConflict(null);
    setBase(version);
    setEdits(rest);
    void save(version, rest);
  }

  return {
    values: { ...stored, ...edits },
    isChanged: Object.keys(changes).length > 0,
    isSaving,
    failure,
    base,
    edit: (next: Partial<Values>) => setEdits({ ...edits, ...next }),
    discard(): void {
      setEdits({});
      setFailure(null);
      setBase(server);
    },
    save: () => save(),
    /** The parameters of the dialog that asks; null while there is nothing to ask. */
    conflict:
      conflict === null
        ? null
        : {
            ...sidesOf(contestedBy(conflict), changes, valuesOf(conflict)),
            onResolve: (kept: readonly string[]) => resolve(conflict, kept),
            onClose: () => setConflict(null),
          },
  };
}

/** The contested fields as each person wants them. */
function sidesOf<V extends object>(names: readonly (keyof V)[], mine: Partial<V>, theirs: V) {
  const pick = (values: Partial<V>) =>
    Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<V>;
  return { mine: pick(mine), theirs: pick(theirs) };
}
