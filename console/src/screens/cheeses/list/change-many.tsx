/** Changes prices, category and tags of many cheeses: a preview with old and new values, one request, and its undo. */
import { Alert, Button, Group, Select, Stack, Table, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Body, Cheese, Curd, Result } from '../../../../../client/src/index.ts';
import { useCurd } from '../../../data/queries.ts';
import { invalidate } from '../../../parts/action.ts';
import { Dialog } from '../../../parts/dialogs/dialog.tsx';
import { type NumberRules, priceRules, readNumber } from '../../../parts/fields/number.ts';
import { NumberField } from '../../../parts/fields/number-field.tsx';
import { notifications } from '../../../parts/notifications.tsx';
import { currencyName } from '../../../parts/text/format.ts';
import { onRefused, toMessage } from '../../../session/session.ts';
import { nameOfField, showField } from '../fields.ts';

type Changes = Body<'changeCheeses'>;
type Change = Changes['changes'][number];
type Preview = Result<'changeCheeses'>;

const shownMax = 100;
/** Whoever changes many prices sees a mistake only in the list. */
const undoManyMs = 5 * 60_000;

const tagsIn = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);

type PriceKind = 'percent' | 'amount' | 'set';

const rulesOf: Readonly<Record<PriceKind, NumberRules>> = {
  percent: { decimals: 2, min: -99, max: 1000 },
  amount: { ...priceRules, min: -priceRules.max },
  set: priceRules,
};

interface Fields {
  readonly kind: PriceKind;
  readonly price: string;
  readonly rounding: '0.01' | '0.05' | '0.10' | '0.95';
  readonly category: string;
  readonly addTags: string;
  readonly removeTags: string;
}

/** null while nothing is to be changed, or the number cannot be read. */
function changeOf(ids: readonly number[], fields: Fields): Change | null {
  const { value: price, problem } = readNumber(fields.price, rulesOf[fields.kind]);
  if (problem !== null) {
    return null;
  }
  const change: Omit<Change, 'cheeseIds'> = {
    ...(price === null
      ? {}
      : {
          price: fields.kind === 'set' ? { set: price } : { [fields.kind]: price, rounding: fields.rounding },
        }),
    ...(fields.category.trim() === '' ? {} : { category: { name: fields.category.trim() } }),
    ...(fields.addTags.trim() === '' ? {} : { addTags: tagsIn(fields.addTags) }),
    ...(fields.removeTags.trim() === '' ? {} : { removeTags: tagsIn(fields.removeTags) }),
  };
  return Object.keys(change).length === 0 ? null : { cheeseIds: [...ids], ...change };
}

async function apply(curd: Curd, changes: Changes, isUndo = false): Promise<void> {
  const { items, undo } = await curd.cheeses.changeAll(changes);
  await invalidate('cheeses', ...items.map(({ id }) => `cheese ${id}`));
  notifications.show({
    message: `${items.length} ${items.length === 1 ? 'cheese is' : 'cheeses are'} ${isUndo ? 'as before' : 'changed'}.`,
    // Another button would do the change again.
    ...(undo === null || isUndo
      ? {}
      : {
          autoClose: undoManyMs,
          action: {
            label: 'Undo',
            run: () =>
              apply(curd, undo as Changes, true).catch((error: unknown) => {
                onRefused(error);
                notifications.show({ color: 'red', title: 'This was not undone', message: toMessage(error) });
              }),
          },
        }),
  });
}

interface Props {
  readonly cheeses: readonly Cheese[];
  /** @param isDone false when nothing was sent */
  readonly onClose: (isDone: boolean) => void;
}

export function ChangeMany({ cheeses, onClose }: Props) {
  const curd = useCurd();
  // The list is read again meanwhile: what was selected stays.
  const [ids] = useState(cheeses.map(({ id }) => id));
  const [fields, setFields] = useState<Fields>({
    kind: 'percent',
    price: '',
    rounding: '0.05',
    category: '',
    addTags: '',
    removeTags: '',
  });
  const [preview, setPreview] = useState<Preview | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const change = changeOf(ids, fields);

  const set = (changed: Partial<Fields>) => {
    setFields({ ...fields, ...changed });
    setPreview(null);
  };

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (change === null) {
      return;
    }
    setRunning(true);
    setFailure(null);
    try {
      if (preview === null) {
        setPreview(await curd.cheeses.changeAll({ changes: [change] }, { dryRun: true }));
      } else {
        await apply(curd, { changes: [change] });
        onClose(true);
      }
    } catch (error) {
      onRefused(error);
      setFailure(toMessage(error));
    } finally {
      setRunning(false);
    }
  }

  return (
    <Dialog title={`Change ${ids.length} cheeses`} size="lg" onClose={() => onClose(false)}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="sm">
          <Group align="start" gap="xs">
            <Select
              label="Price"
              w={140}
              allowDeselect={false}
              data={[
                { value: 'percent', label: 'by percent' },
                { value: 'amount', label: `by ${currencyName}` },
                { value: 'set', label: 'set to' },
              ]}
              value={fields.kind}
              onChange={(kind) => set({ kind: kind as Fields['kind'] })}
            />
            <NumberField
              label={fields.kind === 'set' ? 'New price' : 'Change of the price'}
              flex={1}
              miw={160}
              data-autofocus
              placeholder={fields.kind === 'set' ? '32.50' : '5 or -5'}
              rules={rulesOf[fields.kind]}
              value={fields.price}
              onChange={(price) => set({ price })}
            />
            {fields.kind === 'set' ? null : (
              <Select
                label="Round to"
                w={130}
                allowDeselect={false}
                data={['0.01', '0.05', '0.10', { value: '0.95', label: 'end in .95' }]}
                value={fields.rounding}
                onChange={(rounding) => set({ rounding: rounding as Fields['rounding'] })}
              />
            )}
          </Group>
          <TextInput
            label="Category"
            placeholder="unchanged"
            maxLength={100}
            value={fields.category}
            onChange={({ currentTarget }) => set({ category: currentTarget.value })}
          />
          <Group grow>
            <TextInput
              label="Add tags"
              placeholder="with commas"
              value={fields.addTags}
              onChange={({ currentTarget }) => set({ addTags: currentTarget.value })}
            />
            <TextInput
              label="Remove tags"
              placeholder="with commas"
              value={fields.removeTags}
              onChange={({ currentTarget }) => set({ removeTags: currentTarget.value })}
            />
          </Group>
          {preview === null ? null : <PreviewTable preview={preview} />}
          {failure === null ? null : (
            <Alert color="red" role="alert">
              {failure}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => onClose(false)}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={isRunning}
              disabled={change === null || preview?.items.length === 0}
            >
              {preview === null ? 'Preview' : `Change ${preview.items.length}`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function PreviewTable({ preview: { items, unchanged } }: { readonly preview: Preview }) {
  return (
    <>
      <Text size="sm" role="status">
        {items.length} to be changed{unchanged === 0 ? '' : `, ${unchanged} stay as they are`}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it. */}
      <section aria-label="Preview" style={{ maxHeight: '40vh', overflowY: 'auto' }} tabIndex={0}>
        <Table verticalSpacing={2}>
          <Table.Tbody>
            {items.slice(0, shownMax).map(({ id, name, changes }) => (
              <Table.Tr key={id}>
                <Table.Td>{name}</Table.Td>
                <Table.Td>
                  {Object.entries(changes).map(([field, { from, to }]) => (
                    <Text key={field} size="sm">
                      {nameOfField(field)}: {showField(from, field)} → <b>{showField(to, field)}</b>
                    </Text>
                  ))}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        {items.length > shownMax ? <Text size="sm">and {items.length - shownMax} more</Text> : null}
      </section>
    </>
  );
}
