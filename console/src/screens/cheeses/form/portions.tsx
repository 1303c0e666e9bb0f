/** The pieces in which a cheese is sold: their weights and names, and the price of the only one. */
import { ActionIcon, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { Cross2Icon, PlusIcon } from '@radix-ui/react-icons';
import { useState } from 'react';
import { priceRules, readNumber, writeNumber, writePrice } from '../../../parts/fields/number.ts';
import { NumberField } from '../../../parts/fields/number-field.tsx';
import { currencySymbol, showGrams } from '../../../parts/text/format.ts';
import { type FormValues, gramRules, parseNumbers } from './form-values.ts';
import { pieceCents, toPricePerKg } from './piece-price.ts';

const portionsMax = 12;

interface Props {
  readonly values: FormValues;
  /** Sentences of the server by field, such as `portions[1].grams`. */
  readonly errors: Readonly<Record<string, string>>;
  readonly onChange: (changes: Partial<FormValues>) => void;
}

export function Portions({ values, errors, onChange }: Props) {
  const { portions } = values;
  const set = (next: FormValues['portions']) => onChange({ portions: next });
  const [only] = portions;
  const grams = only === undefined || portions.length > 1 ? null : readNumber(only.grams, gramRules).value;
  return (
    <section aria-label="Pieces">
      <Text size="sm" fw={600}>
        Pieces
      </Text>
      <Text size="xs" c="dimmed" mb={4}>
        {portions.length === 0
          ? 'Sold by the kilogram. Add the weights in which customers can order it.'
          : 'Customers order these weights. All of them share the stock.'}
      </Text>
      <Stack gap="xs">
        {portions.map((portion, index) => {
          const change = (changes: Partial<typeof portion>) =>
            set(portions.map((other, at) => (at === index ? { ...other, ...changes } : other)));
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place alone.
            <Group key={index} gap="xs" align="start" wrap="nowrap">
              <NumberField
                w={95}
                aria-label={`Weight of piece ${index + 1} in grams`}
                placeholder="200"
                rightSection={<Text size="xs">g</Text>}
                autoFocus={portion.grams === '' && portion.name === ''}
                rules={gramRules}
                value={portion.grams}
                error={errors[`portions[${index}].grams`]}
                onChange={(text) => change({ grams: text })}
              />
              <TextInput
                flex={1}
                aria-label={`Name of piece ${index + 1}`}
                placeholder="Name, such as Half wheel"
                maxLength={40}
                value={portion.name}
                error={errors[`portions[${index}].name`]}
                onChange={({ currentTarget }) => change({ name: currentTarget.value })}
              />
              <ActionIcon
                size="lg"
                variant="subtle"
                color="gray"
                aria-label={`Remove piece ${index + 1}`}
                title={`Remove piece ${index + 1}`}
                onClick={() => set(portions.filter((_, at) => at !== index))}
              >
                <Cross2Icon />
              </ActionIcon>
            </Group>
          );
        })}
        <div>
          <Button
            size="xs"
            variant="default"
            leftSection={<PlusIcon aria-hidden="true" />}
            disabled={portions.length >= portionsMax}
            onClick={() => set([...portions, { grams: '', name: '' }])}
          >
            Add a piece
          </Button>
        </div>
        {grams === null ? null : (
          <PiecePrice
            grams={grams}
            pricePerKg={parseNumbers(values).pricePerKg ?? null}
            onChange={(pricePerKg) => onChange({ pricePerKg })}
          />
        )}
        {errors.portions === undefined ||
        Object.keys(errors).some((field) => field.startsWith('portions[')) ? null : (
          <Text size="xs" c="red" role="alert">
            {errors.portions}
          </Text>
        )}
      </Stack>
    </section>
  );
}

interface PriceProps {
  readonly grams: number;
  readonly pricePerKg: number | null;
  readonly onChange: (pricePerKg: string) => void;
}

/** The price of the only piece, which is stored as the price per kilogram that gives exactly it. */
function PiecePrice({ grams, pricePerKg, onChange }: PriceProps) {
  /** Text that is being written; null while the price per kilogram says it. */
  const [written, setWritten] = useState<string | null>(null);
  const price = pricePerKg === null ? null : pieceCents(pricePerKg, grams) / 100;
  return (
    <NumberField
      label={`Price of the piece of ${showGrams(grams)} (${currencySymbol})`}
      description="Changes the price per kg, so that the piece costs exactly this"
      rules={priceRules}
      value={written ?? writePrice(price)}
      onChange={(text) => {
        setWritten(text);
        const { value, problem } = readNumber(text, priceRules);
        if (problem === null) {
          onChange(value === null ? '' : writeNumber(toPricePerKg(Math.round(value * 100), grams)));
        }
      }}
      onBlur={() => setWritten(null)}
    />
  );
}
