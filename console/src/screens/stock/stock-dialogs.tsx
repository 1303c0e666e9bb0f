/** Changes of the stock of one cheese: adjust, count, begin and end tracking. */
import { Select, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type Body, type Curd, etagOf, isCurdError, type Stock } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { type NumberRules, readNumber, writeNumber } from '../../parts/fields/number.ts';
import { NumberField } from '../../parts/fields/number-field.tsx';
import { showKilograms } from '../../parts/text/format.ts';

export type StockAction = 'adjust' | 'count' | 'begin' | 'end';

const kilogramsMax = 1_000_000_000;

export const kilogramRules: NumberRules = { decimals: 3, min: 0, max: kilogramsMax };
const deltaRules: NumberRules = { ...kilogramRules, min: -kilogramsMax };

type Reason = Body<'adjustCheeseStock'>['reason'];

const reasons: { value: Reason; label: string }[] = [
  { value: 'received', label: 'Received' },
  { value: 'returned', label: 'Returned' },
  { value: 'spoiled', label: 'Spoiled' },
  { value: 'sold_elsewhere', label: 'Sold elsewhere' },
  { value: 'counted', label: 'Counted' },
  { value: 'other', label: 'Other' },
];

interface Props {
  readonly action: StockAction;
  readonly cheeseId: number;
  readonly name: string;
  /** Absent while the cheese is not tracked. */
  readonly stock?: Stock | undefined;
  readonly onClose: () => void;
}

export function StockDialog(props: Props) {
  switch (props.action) {
    case 'adjust':
      return <Adjust {...props} />;
    case 'end':
      return <EndTracking {...props} />;
    default:
      return <Count {...props} />;
  }
}

interface FormProps {
  readonly title: string;
  readonly action: string;
  readonly isReady: boolean;
  readonly onSubmit: (curd: Curd) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog with one action, whose refusal is shown in words. */
export function StockForm({ title, action, isReady, onSubmit, onClose, children }: FormProps) {
  const curd = useCurd();

  async function submit(): Promise<void> {
    try {
      await onSubmit(curd);
      onClose();
    } catch (error) {
      throw withSentence(error);
    } finally {
      void invalidate('stock');
    }
  }

  return (
    <FormDialog title={title} action={action} isDisabled={!isReady} onSubmit={submit} onClose={onClose}>
      {children}
    </FormDialog>
  );
}

/** An error with the sentence of the field, if the server names one. */
function withSentence(error: unknown): unknown {
  if (isCurdError(error, 'precondition_failed')) {
    return new Error('The stock was changed at the same moment. Look at the numbers, and save again.');
  }
  const sentence = isCurdError(error) ? error.errors[0]?.message : undefined;
  return sentence === undefined ? error : new Error(sentence);
}

function Adjust({ cheeseId, name, stock, onClose }: Props) {
  const [delta, setDelta] = useState('');
  const [chosen, setChosen] = useState<Reason | null>(null);
  const deltaKg = readNumber(delta, deltaRules).value ?? 0;
  // What is subtracted was not received: why it is gone, only the person knows.
  const reason = chosen ?? (deltaKg < 0 ? null : 'received');
  const isChange = deltaKg !== 0;
  return (
    <StockForm
      title={`Adjust the stock of ${name}`}
      action="Adjust"
      isReady={isChange && reason !== null}
      onSubmit={(curd) => curd.stock.adjust(cheeseId, { deltaKg, reason: reason as Reason })}
      onClose={onClose}
    >
      <NumberField
        label="Kilograms to add"
        description="With a minus sign: to subtract"
        data-autofocus
        rules={deltaRules}
        value={delta}
        onChange={setDelta}
      />
      <Select
        label="Reason"
        data={reasons}
        placeholder="Choose a reason"
        value={reason}
        allowDeselect={false}
        onChange={(value) => setChosen(value as Reason)}
      />
      {stock === undefined ? null : (
        <Text size="sm" c="dimmed">
          {showKilograms(stock.onHand)} on hand
          {isChange ? `, then ${showKilograms(stock.onHand + deltaKg)}` : ''}
        </Text>
      )}
    </StockForm>
  );
}

export interface StockCount {
  readonly onHand: number;
  readonly lowAt: number | null;
}

/** @returns null while a number is missing, or cannot be read */
export function readCount(onHand: string, lowAt: string): StockCount | null {
  const [counted, low] = [readNumber(onHand, kilogramRules), readNumber(lowAt, kilogramRules)];
  return counted.value === null || low.problem !== null ? null : { onHand: counted.value, lowAt: low.value };
}

/**
 * Counts one cheese, or begins to track it. A number on hand that changed since it was shown was perhaps not counted.
 * @throws Error with a sentence for the operator
 */
export async function countStock(
  curd: Curd,
  cheeseId: number,
  seen: Stock | undefined,
  count: StockCount,
): Promise<void> {
  if (seen === undefined) {
    await curd.stock.replace(cheeseId, count);
    return;
  }
  const current = await curd.stock.get(cheeseId);
  if (current.onHand !== seen.onHand) {
    throw new StockMoved(seen.onHand, current);
  }
  await curd.stock.replace(cheeseId, count, { ifMatch: etagOf(current) });
}

class StockMoved extends Error {
  readonly current: Stock;
  constructor(before: number, current: Stock) {
    super(
      `On hand changed from ${showKilograms(before)} to ${showKilograms(current.onHand)} while you counted. ` +
        'Check your number, and save again.',
    );
    this.current = current;
  }
}

function Count({ action, cheeseId, name, stock, onClose }: Props) {
  const [seen, setSeen] = useState(stock);
  const [onHand, setOnHand] = useState(writeNumber(stock?.onHand));
  const [lowAt, setLowAt] = useState(writeNumber(stock?.lowAt));
  const count = readCount(onHand, lowAt);
  const isBeginning = action === 'begin';
  return (
    <StockForm
      title={isBeginning ? `Track the stock of ${name}` : `Count the stock of ${name}`}
      action={isBeginning ? 'Begin tracking' : 'Save'}
      isReady={count !== null}
      onSubmit={async (curd) => {
        try {
          await countStock(curd, cheeseId, seen, count as StockCount);
        } catch (error) {
          if (error instanceof StockMoved) {
            setSeen(error.current);
          }
          throw error;
        }
      }}
      onClose={onClose}
    >
      <KilogramFields onHand={onHand} lowAt={lowAt} onOnHand={setOnHand} onLowAt={setLowAt} />
      {isBeginning ? (
        <Text size="sm" c="dimmed">
          Enter what lies in the storeroom. Orders that were not shipped yet are reserved from it.
        </Text>
      ) : null}
    </StockForm>
  );
}

interface KilogramProps {
  readonly onHand: string;
  readonly lowAt: string;
  readonly onOnHand: (text: string) => void;
  readonly onLowAt: (text: string) => void;
}

export function KilogramFields({ onHand, lowAt, onOnHand, onLowAt }: KilogramProps) {
  return (
    <>
      <NumberField
        label="On hand (kg)"
        data-autofocus
        rules={kilogramRules}
        value={onHand}
        onChange={onOnHand}
      />
      <NumberField
        label="Low at (kg)"
        description="At this many available kilograms or fewer, the stock is low. Empty: no warning until it is sold out"
        rules={kilogramRules}
        value={lowAt}
        onChange={onLowAt}
      />
    </>
  );
}

function EndTracking({ cheeseId, name, onClose }: Props) {
  const curd = useCurd();
  return (
    <Confirm
      title={`End tracking of ${name}`}
      action="End tracking"
      text="The cheese is then sold without limit. Orders stay as they are."
      readEffects={async () => {
        // This header makes that the response is not empty.
        const response: unknown = await curd.stock.delete(cheeseId, { headers: { 'Dry-Run': 'effects' } });
        return response as { effects: []; more: number };
      }}
      onConfirm={async () => {
        await curd.stock.delete(cheeseId);
        void invalidate('stock');
      }}
      onClose={onClose}
    />
  );
}
