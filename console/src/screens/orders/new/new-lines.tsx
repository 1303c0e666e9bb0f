/** The cheeses of a new order: what is left of them, which piece, and how many. */
import { Anchor, Button, NativeSelect, Table, Text, TextInput } from '@mantine/core';
import { type RefObject, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { Cheese, Order, Result } from '../../../../../client/src/index.ts';
import { type NumberRules, readNumber } from '../../../parts/fields/number.ts';
import { showGrams, showKilograms, showMoney } from '../../../parts/text/format.ts';
import { amountOf } from '../lines.ts';

type Availability = Result<'listAvailability'>['items'][number];
type Portions = NonNullable<Availability['portions']>;

export interface NewLine {
  readonly cheeseId: number;
  readonly name: string;
  /** The weight of a piece. null: kilograms. */
  readonly grams: number | null;
  /** Text of the field. */
  readonly quantity: string;
}

const quantityRules: NumberRules = { decimals: 0, min: 1, max: 100 };

/** Null if the text is no quantity that can be ordered. */
export const quantityIn = (text: string): number | null => readNumber(text, quantityRules).value;

export const lineKey = ({ cheeseId, grams }: Pick<NewLine, 'cheeseId' | 'grams'>): string =>
  `${cheeseId} ${grams ?? 'kg'}`;

/** The lines with one more: of a cheese with several pieces, the first that no line has. */
export function withLine(lines: readonly NewLine[], { id, name, portions = [] }: Cheese): readonly NewLine[] {
  const weights = portions.length === 0 ? [null] : portions.map(({ grams }) => grams);
  const own = lines.filter(({ cheeseId }) => cheeseId === id);
  const free = weights.find((weight) => own.every(({ grams }) => grams !== weight));
  return free === undefined ? [...lines] : [...lines, { cheeseId: id, name, grams: free, quantity: '1' }];
}

/** "32 left", or why none can be ordered. */
function leftText(left: Availability | undefined, grams: number | null): string {
  if (left === undefined) {
    return '';
  }
  const piece = left.portions?.find((portion) => portion.grams === grams);
  if (!left.orderable || piece?.quantity === 0) {
    return left.orderable ? 'none of this weight is left' : 'cannot be ordered now';
  }
  return left.kilograms === null
    ? 'available'
    : `${piece === undefined ? showKilograms(left.kilograms) : piece.quantity} left`;
}

interface Props {
  readonly lines: readonly NewLine[];
  readonly availability: readonly Availability[] | undefined;
  /** The order as it would be, which may be that of a moment ago. */
  readonly quote: Result<'quoteOrder'> | null | undefined;
  /** Sentences of the server by field. */
  readonly problems: Readonly<Record<string, string>>;
  /** The line that was just added: its quantity gets the focus. */
  readonly added: RefObject<string | null>;
  readonly onChange: (lines: readonly NewLine[]) => void;
}

export function NewLines({ lines, availability, quote, problems, added, onChange }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each choice.
  useEffect(() => {
    if (added.current !== null) {
      body.current?.querySelector<HTMLInputElement>(`[data-line="${added.current}"]`)?.select();
      added.current = null;
    }
  }, [lines]);
  return (
    <Table mt="sm" verticalSpacing={4}>
      <Table.Tbody ref={body}>
        {lines.map((line, index) => {
          const problem = (field: string) => problems[`items[${index}].${field}`];
          const isQuoted = ({ cheeseId, grams }: Order['items'][number]) =>
            cheeseId === line.cheeseId && (grams ?? null) === line.grams;
          return (
            <LineRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place alone.
              key={index}
              line={line}
              left={availability?.find(({ cheeseId }) => cheeseId === line.cheeseId)}
              quoted={quote?.items.find(isQuoted)}
              taken={lines.filter(({ cheeseId }) => cheeseId === line.cheeseId).map(({ grams }) => grams)}
              problem={problem('quantity') ?? problem('cheeseId')}
              gramsProblem={problem('grams')}
              onChange={(changes) =>
                onChange(lines.map((other, at) => (at === index ? { ...other, ...changes } : other)))
              }
              onRemove={() => onChange(lines.filter((_, at) => at !== index))}
            />
          );
        })}
      </Table.Tbody>
    </Table>
  );
}

interface RowProps {
  readonly line: NewLine;
  readonly left: Availability | undefined;
  readonly quoted: Order['items'][number] | undefined;
  /** The pieces of the cheese that lines have. */
  readonly taken: readonly (number | null)[];
  readonly problem: string | undefined;
  readonly gramsProblem: string | undefined;
  readonly onChange: (changes: Partial<NewLine>) => void;
  readonly onRemove: () => void;
}

function LineRow({ line, left, quoted, taken, problem, gramsProblem, onChange, onRemove }: RowProps) {
  const { cheeseId, name, grams, quantity } = line;
  const isPiece = grams !== null;
  const text = leftText(left, grams);
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} size="sm" href={`/cheeses/${cheeseId}`} tabIndex={-1}>
          {name}
        </Anchor>
        <Text size="xs" c={/^(cannot|none)/.test(text) ? 'red' : 'dimmed'}>
          {text}
        </Text>
        {isPiece || left?.portions !== undefined ? (
          <PieceSelect
            {...{ name, grams, taken }}
            portions={left?.portions ?? []}
            error={gramsProblem}
            onChange={(weight) => onChange({ grams: weight })}
          />
        ) : null}
      </Table.Td>
      <Table.Td w={110}>
        <TextInput
          size="xs"
          inputMode="numeric"
          aria-label={isPiece ? `Pieces of ${showGrams(grams)} of ${name}` : `Kilograms of ${name}`}
          data-line={lineKey(line)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              event.preventDefault();
              document.querySelector<HTMLElement>('[data-cheese-search]')?.focus();
            }
          }}
          rightSection={<Text size="xs">{isPiece ? 'pcs' : 'kg'}</Text>}
          maxLength={12}
          value={quantity}
          error={
            quantityIn(quantity) === null ? `Whole ${isPiece ? 'pieces' : 'kilograms'}, 1 to 100` : problem
          }
          onChange={({ currentTarget }) => onChange({ quantity: currentTarget.value })}
        />
      </Table.Td>
      <Table.Td ta="right" className="figure">
        {quoted === undefined ? '' : showMoney(amountOf(quoted))}
      </Table.Td>
      <Table.Td w={70}>
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          aria-label={`Remove ${name}`}
          onClick={onRemove}
        >
          Remove
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

interface PieceProps {
  readonly name: string;
  readonly grams: number | null;
  readonly taken: readonly (number | null)[];
  readonly portions: Portions;
  readonly error: string | undefined;
  readonly onChange: (grams: number | null) => void;
}

/** The piece of a line. A weight that the cheese no longer has stays until another one is chosen. */
function PieceSelect({ name, grams, taken, portions, error, onChange }: PieceProps) {
  const options = portions.map(({ grams: weight, name: pieceName, price }) => ({
    value: String(weight),
    label: [showGrams(weight), price === null ? undefined : showMoney(price), pieceName]
      .filter((part) => part !== undefined)
      .join(', '),
    disabled: weight !== grams && taken.includes(weight),
  }));
  const isKnown = portions.some((portion) => portion.grams === grams);
  const current = { value: String(grams ?? ''), label: grams === null ? 'Choose a piece' : showGrams(grams) };
  const byKilogram = portions.length === 0 ? [{ value: '', label: 'by the kilogram' }] : [];
  return (
    <NativeSelect
      size="xs"
      mt={4}
      aria-label={`Piece of ${name}`}
      data={[...(isKnown ? [] : [current]), ...options, ...(grams === null ? [] : byKilogram)]}
      value={current.value}
      error={error}
      onChange={({ currentTarget: { value } }) => onChange(value === '' ? null : Number(value))}
    />
  );
}
