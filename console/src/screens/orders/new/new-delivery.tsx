/** What a new order has beside its lines: the delivery, a day, a discount code, and that it is a gift. */
import { Checkbox, Radio, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { Body, Result } from '../../../../../client/src/index.ts';
import { type DeliveryOption, optionText } from '../../../parts/prices/delivery-text.ts';

export interface Wishes {
  /** Null: what the shop does with an order that names none. */
  readonly method: Pick<DeliveryOption, 'id' | 'name'> | null;
  readonly requestedDate: string;
  readonly discountCode: string;
  readonly isGift: boolean;
  readonly message: string;
  readonly hidePrices: boolean;
}

export const noWishes: Wishes = {
  method: null,
  requestedDate: '',
  discountCode: '',
  isGift: false,
  message: '',
  hidePrices: true,
};

export function wishesBody(wishes: Wishes): Partial<Body<'placeOrder'>> {
  const { method, requestedDate, isGift, message, hidePrices } = wishes;
  const discountCode = wishes.discountCode.trim();
  return {
    ...(method !== null && { deliveryMethodId: method.id }),
    ...(requestedDate !== '' && { requestedDate }),
    ...(discountCode !== '' && { discountCode }),
    ...(isGift && { gift: { message: message.trim() || null, hidePrices } }),
  };
}

interface Props {
  readonly wishes: Wishes;
  readonly quote: Result<'quoteOrder'> | null | undefined;
  /** Sentences of the server by field. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (changes: Partial<Wishes>) => void;
}

export function NewWishes({ wishes, quote, problems, onChange }: Props) {
  const { isGift } = wishes;
  return (
    <section className="card" aria-label="Method, code and gift">
      <Stack gap="xs">
        <Methods {...{ wishes, quote, problems, onChange }} />
        <SimpleGrid cols={2} spacing="xs">
          <TextInput
            size="xs"
            label="Day on which it leaves"
            description="Empty: as soon as possible"
            type="date"
            value={wishes.requestedDate}
            error={problems.requestedDate}
            onChange={({ currentTarget }) => onChange({ requestedDate: currentTarget.value })}
          />
          <TextInput
            size="xs"
            label="Discount code"
            description="One for an order"
            maxLength={40}
            autoComplete="off"
            value={wishes.discountCode}
            error={problems.discountCode}
            onChange={({ currentTarget }) => onChange({ discountCode: currentTarget.value })}
          />
        </SimpleGrid>
        <Checkbox
          size="xs"
          label="It is a gift"
          checked={isGift}
          onChange={({ currentTarget }) => onChange({ isGift: currentTarget.checked })}
        />
        {isGift ? (
          <>
            <Textarea
              size="xs"
              label="Message"
              description="Printed on the slip"
              autosize
              maxLength={500}
              value={wishes.message}
              error={problems['gift.message']}
              onChange={({ currentTarget }) => onChange({ message: currentTarget.value })}
            />
            <Checkbox
              size="xs"
              label="Without prices in the parcel"
              checked={wishes.hidePrices}
              onChange={({ currentTarget }) => onChange({ hidePrices: currentTarget.checked })}
            />
          </>
        ) : null}
      </Stack>
    </section>
  );
}

/** The methods that serve the order. A chosen one that does not serve it any more stays, with the reason. */
function Methods({ wishes: { method }, quote, problems, onChange }: Props) {
  const options = quote?.deliveryOptions ?? [];
  const isGone = method !== null && options.every(({ id }) => id !== method.id);
  const byShop = quote?.breakdown.delivery;
  const problem = problems.deliveryMethodId;
  return options.length === 0 && !isGone ? (
    problem === undefined ? null : (
      <Text size="xs" c="red">
        {problem}
      </Text>
    )
  ) : (
    <Radio.Group
      size="xs"
      label="Delivery"
      error={problem}
      value={method === null ? '' : String(method.id)}
      onChange={(id) => onChange({ method: options.find((option) => String(option.id) === id) ?? null })}
    >
      <Stack gap={6} mt={4} mb={4}>
        <Radio
          size="xs"
          value=""
          label={
            method !== null || byShop === undefined ? 'No method named' : `The shop chooses: ${byShop.name}`
          }
        />
        {options.map((option) => (
          <Radio key={option.id} size="xs" value={String(option.id)} label={optionText(option)} />
        ))}
        {isGone ? <Radio size="xs" value={String(method.id)} label={method.name} /> : null}
      </Stack>
    </Radio.Group>
  );
}
