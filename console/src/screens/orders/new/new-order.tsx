/** A new order for a customer who calls, or once more the order of another one: with stock and a quote while it is written. */
import { Alert, Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { type Body, type Cheese, isCurdError, type Order } from '../../../../../client/src/index.ts';
import { useApi, useCurd } from '../../../data/queries.ts';
import { fieldErrors, useAction } from '../../../parts/action.ts';
import { chooseFirst } from '../../../parts/fields/choose-first.ts';
import { CountrySelect } from '../../../parts/fields/country-select.tsx';
import { PageTitle, Read } from '../../../parts/page.tsx';
import { BreakdownTable } from '../../../parts/prices/breakdown.tsx';
import { showMoney } from '../../../parts/text/format.ts';
import { asId, asText, useUrlFilters } from '../../../parts/url-filters.ts';
import { toMessage } from '../../../session/session.ts';
import { CustomerFilter } from '../filters.tsx';
import { NewWishes, noWishes, type Wishes, wishesBody } from './new-delivery.tsx';
import { lineKey, type NewLine, NewLines, quantityIn, withLine } from './new-lines.tsx';

type Input = Body<'placeOrder'>;

interface ShippingFields {
  readonly name: string;
  readonly company: string;
  readonly street: string;
  readonly street2: string;
  readonly zipCode: string;
  readonly city: string;
  readonly state: string;
  readonly country: string;
  readonly phone: string;
}

const noAddress: ShippingFields = {
  name: '',
  company: '',
  street: '',
  street2: '',
  zipCode: '',
  city: '',
  state: '',
  country: '',
  phone: '',
};

const addressOf = ({ shippingAddress: { state, ...given } }: Order): ShippingFields => ({
  ...noAddress,
  ...given,
  state: state ?? '',
});

/** `?customer=5` chooses the customer, and `?again=31` the lines, the shipping address and the customer of an order. */
export function NewOrder() {
  const {
    filters: { again, customer: chosen = null },
  } = useUrlFilters({ again: asId, customer: asText() });
  const begun = useApi([`order ${again ?? ''}`, 'again'], async (curd) => {
    if (again === undefined) {
      return { order: null, customer: chosen };
    }
    const [order, customer] = await Promise.all([curd.orders.get(again), curd.orders.getCustomer(again)]);
    return { order, customer: customer === undefined ? null : String(customer.id) };
  });
  return (
    <Read of={begun} what="the order" heading={<PageTitle title="New order" />}>
      {(data) => <OrderForm key={again ?? ''} {...data} />}
    </Read>
  );
}

type QuoteBody = Body<'quoteOrder'>;

/** Texts that are written, without blanks at their ends. */
const written = <Fields extends object>(fields: Fields): Partial<Record<keyof Fields, string>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]])),
  ) as Partial<Record<keyof Fields, string>>;

/** What can be quoted: the lines, and what is known of the rest. Null without a line. */
function quotedOf(
  lines: readonly NewLine[],
  address: ShippingFields,
  notes: string,
  wishes: Wishes,
): QuoteBody | null {
  const isComplete = lines.length > 0 && lines.every(({ quantity }) => quantityIn(quantity) !== null);
  return isComplete
    ? {
        items: lines.map(({ cheeseId, quantity, grams }) => ({
          cheeseId,
          quantity: quantityIn(quantity) ?? 0,
          ...(grams === null ? {} : { grams }),
        })),
        shippingAddress: written(address),
        ...written({ notes }),
        ...wishesBody(wishes),
      }
    : null;
}

/** The request, or null while something is missing. */
function inputOf(quoted: QuoteBody | null): Input | null {
  const { street, city, country } = quoted?.shippingAddress ?? {};
  return quoted === null || street === undefined || city === undefined || country === undefined
    ? null
    : { ...quoted, shippingAddress: { ...quoted.shippingAddress, street, city, country } };
}

function OrderForm({
  order,
  customer: first,
}: {
  readonly order: Order | null;
  readonly customer: string | null;
}) {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const { run, isRunning } = useAction();
  const [customer, setCustomer] = useState(first);
  const [lines, setLines] = useState<readonly NewLine[]>(
    () =>
      order?.items.map(({ cheeseId, cheeseName, quantity, grams = null }) => ({
        cheeseId,
        name: cheeseName,
        grams,
        quantity: String(quantity),
      })) ?? [],
  );
  const [address, setAddress] = useState(order === null ? noAddress : addressOf(order));
  const [notes, setNotes] = useState('');
  /** The line that was just added: its quantity gets the focus, and Enter there returns to the search. */
  const added = useRef<string | null>(null);
  const [wishes, setWishes] = useState(noWishes);
  const quoted = quotedOf(lines, address, notes, wishes);
  const input = inputOf(quoted);
  const query = customer === null ? {} : { customerId: Number(customer) };
  /** The request that failed last: sent again with its key, an order that was placed and not confirmed is not placed twice. */
  const failed = useRef<{ readonly body: string; readonly key: string | undefined } | null>(null);

  const [asked] = useDebouncedValue(JSON.stringify(quoted), 300);
  const quote = useApi(['quote', asked], async (api, signal) =>
    asked === 'null' ? null : await api.orders.quote(JSON.parse(asked), { signal }),
  );
  const problems = {
    ...(quote.error && fieldErrors(quote.error)),
    ...Object.fromEntries(quote.data?.problems.map(({ field, message }) => [field, message]) ?? []),
  };
  const ids = [...new Set(lines.map(({ cheeseId }) => cheeseId))];
  const stock = useApi(['stock', 'of new order', ids], async (api) =>
    ids.length === 0 ? [] : (await api.cheeses.listAvailability({ cheeseIds: ids.map(String) })).items,
  );

  async function place(): Promise<void> {
    if (input === null || isRunning) {
      return;
    }
    const body = JSON.stringify({ input, query });
    const idempotencyKey = failed.current?.body === body ? failed.current.key : undefined;
    let placed: Order | undefined;
    await run(
      null,
      async () => {
        try {
          placed = await curd.orders.place(input, { idempotencyKey }, query);
        } catch (error) {
          failed.current = { body, key: isCurdError(error) ? error.idempotencyKey : undefined };
          throw error;
        }
      },
      'orders',
    );
    if (placed !== undefined) {
      navigate(`/orders/${placed.id}`);
    }
  }

  const field = (name: keyof ShippingFields, label: string, max: number) => (
    <TextInput
      size="xs"
      label={label}
      maxLength={max}
      autoComplete="off"
      value={address[name]}
      error={problems[`shippingAddress.${name}`]}
      onChange={({ currentTarget }) => setAddress({ ...address, [name]: currentTarget.value })}
    />
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void place();
      }}
      onKeyDown={(event) => {
        if (event.key === 's' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          void place();
        }
      }}
    >
      <PageTitle title="New order">
        <Text fw={600} className="figure" role="status" aria-label="Quote">
          {quote.data == null ? '' : showMoney(quote.data.total)}
        </Text>
        <Button size="xs" type="submit" loading={isRunning} disabled={input === null}>
          Place order
        </Button>
      </PageTitle>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <section className="card" aria-label="Cheeses">
          <CheeseSearch
            isFirst={order === null}
            onChoose={(cheese) => {
              const next = withLine(lines, cheese);
              const own = next.filter(({ cheeseId }) => cheeseId === cheese.id).at(-1);
              added.current = own === undefined ? null : lineKey(own);
              setLines(next);
            }}
          />
          <NewLines
            lines={lines}
            availability={stock.data}
            quote={quote.data}
            problems={problems}
            added={added}
            onChange={setLines}
          />
          {quote.data == null ? null : <BreakdownTable {...quote.data} />}
          {problems.items === undefined ? null : (
            <Alert color="red" mt="sm">
              The cheeses {problems.items}
            </Alert>
          )}
          {quote.error !== null && !isCurdError(quote.error, 'validation_error') ? (
            <Alert color="red" mt="sm">
              {toMessage(quote.error)}
            </Alert>
          ) : null}
        </section>
        <Stack gap="md">
          <section className="card" aria-label="Delivery">
            <CustomerFilter width="100%" value={customer} onChange={setCustomer} />
            <Group gap="xs" my="xs">
              {customer === null ? (
                <Text size="xs" c="dimmed">
                  Without a customer, the order causes no mails and counts for no tier.
                </Text>
              ) : (
                <LastAddress customerId={Number(customer)} onChoose={setAddress} />
              )}
            </Group>
            <SimpleGrid cols={2} spacing="xs">
              {field('name', 'Recipient, if not the customer', 100)}
              {field('company', 'Company', 100)}
              {field('street', 'Street', 200)}
              {field('street2', 'Second line', 200)}
              {field('city', 'City', 100)}
              {field('zipCode', 'Zip code', 32)}
              {field('state', 'State', 100)}
              <CountrySelect
                label="Country"
                value={address.country === '' ? null : address.country.toUpperCase()}
                error={problems['shippingAddress.country']}
                onChange={(country) => setAddress({ ...address, country: country ?? '' })}
              />
              {field('phone', 'Phone', 30)}
            </SimpleGrid>
            <TextInput
              mt="xs"
              size="xs"
              label="Wishes of the customer"
              maxLength={1000}
              value={notes}
              error={problems.notes}
              onChange={({ currentTarget }) => setNotes(currentTarget.value)}
            />
          </section>
          <NewWishes
            wishes={wishes}
            quote={quote.data}
            problems={problems}
            onChange={(changes) => setWishes({ ...wishes, ...changes })}
          />
        </Stack>
      </SimpleGrid>
    </form>
  );
}

/** Available cheeses by the beginnings of words. */
function CheeseSearch({
  isFirst,
  onChoose,
}: {
  /** There are no lines yet: it has the focus. */
  readonly isFirst: boolean;
  readonly onChoose: (cheese: Cheese) => void;
}) {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 150);
  const { data = [] } = useApi(['cheeses', 'for new order', query], async (curd) =>
    query === '' ? [] : (await curd.cheeses.list({ q: query, status: ['available'], limit: 10 })).items,
  );
  return (
    <Select
      size="xs"
      label="Add a cheese"
      placeholder="The beginning of a name"
      data-cheese-search
      autoFocus={isFirst}
      searchable
      onKeyDown={chooseFirst}
      filter={({ options }) => options}
      nothingFoundMessage={query === '' ? undefined : 'No available cheese was found'}
      data={data.map(({ id, name, pricePerKg }) => ({
        value: String(id),
        label: `${name}${pricePerKg === undefined ? '' : `, ${showMoney(pricePerKg)} per kg`}`,
      }))}
      value={null}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => {
        const found = data.find((cheese) => String(cheese.id) === id);
        if (found !== undefined) {
          onChoose(found);
          setText('');
        }
      }}
    />
  );
}

/** Takes over the shipping address of the customer's last order. */
function LastAddress({
  customerId,
  onChoose,
}: {
  readonly customerId: number;
  readonly onChoose: (address: ShippingFields) => void;
}) {
  const { data } = useApi(['orders', 'of customer', customerId, 'last'], async (curd) => {
    const { items } = await curd.orders.list({ customerId, limit: 1 });
    return items[0] ?? null;
  });
  return data == null ? null : (
    <Button size="xs" variant="default" onClick={() => onChoose(addressOf(data))}>
      Address of order {data.id}
    </Button>
  );
}
