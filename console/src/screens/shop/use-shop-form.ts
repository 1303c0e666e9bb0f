/** The edits of the shop over its stored version. A change of others to the same fields asks which version is kept. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { etagOf, isCurdError } from '../../../../client/src/index.ts';
import { shopCurrency } from '../../currency.ts';
import { useCurd } from '../../data/queries.ts';
import { shopName } from '../../environment.ts';
import { fieldErrors } from '../../parts/action.ts';
import { messageOf, onRefused } from '../../session/session.ts';
import {
  changedFields,
  patchOf,
  type ShopField,
  type ShopProfile,
  type ShopValues,
  valuesOf,
} from './shop-values.ts';

export interface VersionedShop {
  readonly shop: ShopProfile;
  readonly etag: string | undefined;
}

export const shopKey = ['shop'];

interface Failure {
  /** Sentences by field. */
  readonly fields: Readonly<Record<string, string>>;
  /** Undefined where the fields say it. */
  readonly text?: string;
}

function failureOf(error: unknown): Failure {
  onRefused(error);
  const fields = fieldErrors(error);
  // No other rule of the shop is in conflict with what is stored.
  return isCurdError(error, 'conflict')
    ? { fields: { currency: messageOf(error) } }
    : fields === null
      ? { fields: {}, text: messageOf(error) }
      : { fields };
}

export function useShopForm(server: VersionedShop) {
  const curd = useCurd();
  const client = useQueryClient();
  const [base, setBase] = useState(server);
  const [edits, setEdits] = useState<Partial<ShopValues>>({});
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<Failure>({ fields: {} });
  const [conflict, setConflict] = useState<VersionedShop | null>(null);
  const stored = valuesOf(base.shop);
  const changes = changedFields(edits, stored);
  const isChanged = Object.keys(changes).length > 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is looked at once, when it arrives.
  useEffect(() => {
    if (contestedBy(server).length === 0) {
      setBase(server);
    }
  }, [server]);

  /** Edited fields that another person has changed to another value. */
  function contestedBy({ shop }: VersionedShop): ShopField[] {
    const now = valuesOf(shop);
    return (Object.keys(changes) as ShopField[]).filter(
      (field) => now[field] !== stored[field] && now[field] !== changes[field],
    );
  }

  async function save(version = base, wanted = changes): Promise<void> {
    if (Object.keys(wanted).length === 0 || isSaving) {
      return;
    }
    setSaving(true);
    setFailure({ fields: {} });
    try {
      const shop = await curd.shop.patch(patchOf(wanted, valuesOf(version.shop)), { ifMatch: version.etag });
      if (shop.currency !== shopCurrency || shop.name !== shopName) {
        // The page was made with the old ones.
        window.location.reload();
        return;
      }
      const saved = { shop, etag: etagOf(shop) };
      client.setQueryData(shopKey, saved);
      setBase(saved);
      setEdits({});
    } catch (error) {
      if (isCurdError(error, 'precondition_failed')) {
        await compare().catch((reason: unknown) => setFailure(failureOf(reason)));
      } else {
        setFailure(failureOf(error));
      }
    } finally {
      setSaving(false);
    }
  }

  /** Asks about contested fields after a refusal. Where there are none, the changes are for the new version. */
  async function compare(): Promise<void> {
    const shop = await curd.shop.get();
    const current = { shop, etag: etagOf(shop) };
    if (contestedBy(current).length > 0) {
      setConflict(current);
    } else {
      setBase(current);
      setFailure({ fields: {}, text: 'Another person changed other fields meanwhile. Save again.' });
    }
  }

  return {
    values: { ...stored, ...edits },
    isChanged,
    isSaving,
    failure,
    edit: (field: ShopField, text: string) => setEdits({ ...edits, [field]: text }),
    discard(): void {
      setEdits({});
      setFailure({ fields: {} });
    },
    save: () => save(),
    conflict:
      conflict === null
        ? null
        : {
            fields: contestedBy(conflict),
            mine: changes,
            theirs: valuesOf(conflict.shop),
            close: () => setConflict(null),
            /** @param kept the contested fields whose own value is saved */
            resolve(kept: readonly string[]): void {
              const contested: readonly string[] = contestedBy(conflict);
              const rest = Object.fromEntries(
                Object.entries(changes).filter(
                  ([field]) => !contested.includes(field) || kept.includes(field),
                ),
              );
              setConflict(null);
              setBase(conflict);
              setEdits(rest);
              void save(conflict, rest);
            },
          },
  };
}
