/** What a customer would see now: a quote for an order that the owner makes up. Nothing is ordered. */
import {
  Alert,
  Divider,
  NativeSelect,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { Body, Cheese, Result } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { CountrySelect } from '../fields/country-select.tsx';
import { type NumberRules, readNumber } from '../fields/number.ts';
import { NumberField } from '../fields/number-field.tsx';
import { Read } from '../page.tsx';
import { countryName } from '../text/countries.ts';
import { showGrams, showKilograms } from '../text/format.ts';
import { readId } from '../text/ids.ts';
import { BreakdownTable } from './breakdown.tsx';
import { optionText } from './delivery-text.ts';

const quantityRules: NumberRules = { decimals: 0, min: 1, max: 100 };
const offered = 50;

interface Choice {
  readonly cheeseId: number;
  readonly grams: number | null;
  readonly text: string;
}

const choicesOf = ({ id, name, portions = [] }: Cheese): Choice[] =>
  portions.length === 0
    ? [{ cheeseId: id, grams: null, text: `${name}, by the kilogram` }]
    : portions.map(({ grams }) => ({ cheeseId: id, grams, text: `${name}, ${showGrams(grams)}` }));

interface Wish {
  /** The text of a choice. */
  readonly cheese: string;
  readonly quantity: string;
  readonly country: string | null;
  readonly state: string;
  readonly zipCode: string;
  readonly methodId: number | undefined;
  readonly code: string;
}

function bodyOf(wish: Wish, { cheeseId, grams }: Choice): Body<'quoteOrder'> | null {
  const quantity = readNumber(wish.quantity, quantityRules).value;
  const texts = { country: wish.country ?? '', state: wish.state.trim(), zipCode: wish.zipCode.trim() };
  return quantity === null
    ? null
    : {
        items: [{ cheeseId, quantity, ...(grams !== null && { grams }) }],
        shippingAddress: Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
        ...(wish.methodId !== undefined && { deliveryMethodId: wish.methodId }),
        ...(wish.code.trim() !== '' && { discountCode: wish.code.trim() }),
      };
}

/** @param code a field for a code is shown, which begins with this one */
export function TryOrder({ code }: { readonly code?: string }) {
  const start = useApi(['shop', 'of a quote'], async (curd, signal) => {
    const [shop, cheeses] = await Promise.all([
      curd.shop.get({ signal }),
      curd.cheeses.list({ status: ['available'], limit: offered }, { signal }),
    ]);
    const priced = cheeses.items.filter(({ pricePerKg }) => pricePerKg !== undefined);
    // Cheeses of two categories may have one name.
    const choices = new Map(priced.flatMap(choicesOf).map((choice) => [choice.text, choice]));
    return { address: shop.address, choices: [...choices.values()] };
  });
  return (
    <section className="card" aria-label="Try it">
      <Title order={2} size="h5">
        Try it
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        What a customer would see now. Nothing is ordered.
      </Text>
      <Read of={start} what="an example">
        {({ address, choices }) =>
          choices.length === 0 ? (
            <Text size="sm">Create a cheese with a price first. Then this shows what customers pay.</Text>
          ) : (
            <Example
              choices={choices}
              begin={{
                cheese: '',
                quantity: '1',
                country: address?.country ?? null,
                state: address?.state ?? '',
                zipCode: address?.zipCode ?? '',
                methodId: undefined,
                code: code ?? '',
              }}
              hasCode={code !== undefined}
            />
          )
        }
      </Read>
    </section>
  );
}

interface ExampleProps {
  readonly choices: readonly Choice[];
  readonly begin: Wish;
  readonly hasCode: boolean;
}

function Example({ choices, begin, hasCode }: ExampleProps) {
  const [wish, setWish] = useState(begin);
  const set = (changes: Partial<Wish>) => setWish({ ...wish, ...changes });
  const choice = choices.find(({ text }) => text === wish.cheese) ?? (choices[0] as Choice);
  const text = (name: 'state' | 'zipCode' | 'code', label: string, max: number) => (
    <TextInput
      size="xs"
      label={label}
      maxLength={max}
      autoComplete="off"
      value={wish[name]}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
    />
  );
  return (
    <Stack gap="xs">
      <SimpleGrid cols={2} spacing="xs">
        <NativeSelect
          size="xs"
          label="Cheese"
          data={choices.map(({ text }) => text)}
          value={choice.text}
          onChange={({ currentTarget }) => set({ cheese: currentTarget.value })}
        />
        <NumberField
          size="xs"
          label={choice.grams === null ? 'Kilograms' : 'Pieces'}
          rules={quantityRules}
          value={wish.quantity}
          onChange={(quantity) => set({ quantity })}
        />
        <CountrySelect label="Country" value={wish.country} onChange={(country) => set({ country })} />
        {text('zipCode', 'Zip code', 32)}
        {text('state', 'State', 100)}
        {hasCode ? text('code', 'Code', 40) : null}
      </SimpleGrid>
      <Quote wish={wish} choice={choice} onMethod={(methodId) => set({ methodId })} />
    </Stack>
  );
}

interface QuoteProps {
  readonly wish: Wish;
  readonly choice: Choice;
  readonly onMethod: (id: number | undefined) => void;
}

function Quote({ wish, choice, onMethod }: QuoteProps) {
  const [asked] = useDebouncedValue(JSON.stringify(bodyOf(wish, choice)), 300);
  const quote = useApi(['quote', asked], async (curd, signal) =>
    asked === 'null' ? null : await curd.orders.quote(JSON.parse(asked), { signal }),
  );
  const grams = (choice.grams ?? 1000) * (readNumber(wish.quantity, quantityRules).value ?? 0);
  const place = [wish.zipCode.trim(), wish.country === null ? '' : countryName(wish.country)].filter(Boolean);
  return (
    <>
      <Divider />
      <Text size="sm" fw={600}>
        {showKilograms(grams / 1000)} {place.length === 0 ? 'to any place' : `to ${place.join(' ')}`}
      </Text>
      <Read of={quote}>
        {(data) =>
          data === null ? null : (
            <div role="status" aria-label="What the customer sees">
              {data.problems.map(({ field, message }) => (
                <Alert key={field + message} color="yellow" variant="light" p="xs" mb="xs">
                  {problemText(field, message)}
                </Alert>
              ))}
              <Options quote={data} methodId={wish.methodId} onMethod={onMethod} />
              <BreakdownTable breakdown={data.breakdown} total={data.total} />
            </div>
          )
        }
      </Read>
    </>
  );
}

interface OptionsProps {
  readonly quote: Result<'quoteOrder'>;
  readonly methodId: number | undefined;
  readonly onMethod: (id: number | undefined) => void;
}

/** The methods that the customer can choose, with their charges and days. */
function Options({ quote: { deliveryOptions, breakdown }, methodId, onMethod }: OptionsProps) {
  const none = breakdown.delivery === undefined ? 'No delivery' : 'The cheapest, which the shop chooses';
  return deliveryOptions.length === 0 ? null : (
    <Radio.Group
      aria-label="Delivery"
      value={String(methodId ?? '')}
      onChange={(id) => onMethod(readId(id))}
      mb="sm"
    >
      <Stack gap={6}>
        {deliveryOptions.map((option) => (
          <Radio key={option.id} size="xs" value={String(option.id)} label={optionText(option)} />
        ))}
        <Radio size="xs" value="" label={methodId === undefined ? none : 'None named'} />
      </Stack>
    </Radio.Group>
  );
}

/** Names the subject of sentences of the server that do not. */
const problemText = (field: string, message: string): string =>
  field === 'items' ? `The cheeses ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
