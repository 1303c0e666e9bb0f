/** The fields of a delivery method. */
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Input,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Cross2Icon, PlusIcon } from '@radix-ui/react-icons';
import { CountrySelect } from '../../parts/fields/country-select.tsx';
import { priceRules } from '../../parts/fields/number.ts';
import { NumberField } from '../../parts/fields/number-field.tsx';
import type { ResourceForm } from '../../parts/forms/resource-page.tsx';
import { countryName } from '../../parts/text/countries.ts';
import { currencySymbol } from '../../parts/text/format.ts';
import { DaysField } from './days-field.tsx';
import {
  kilogramRules,
  type Method,
  type MethodValues,
  methodLabels,
  newRate,
  positionRules,
  transitRules,
} from './method-values.ts';

const ratesMax = 20;

type Props = Pick<ResourceForm<Method, MethodValues>, 'values' | 'edit' | 'errors' | 'entity'>;

export function MethodForm(form: Props) {
  const { values, edit, errors, entity } = form;
  return (
    <>
      <section className="card" aria-label="What it is">
        <Stack gap="sm">
          <Radio.Group
            aria-label={methodLabels.kind}
            value={values.kind}
            onChange={(kind) => edit({ kind: kind as MethodValues['kind'] })}
          >
            <Group gap="lg">
              <Radio value="parcel" label="Parcel" />
              <Radio value="pickup" label="Pickup in the shop" />
            </Group>
          </Radio.Group>
          <TextInput
            label={methodLabels.name}
            description="As customers read it"
            placeholder={values.kind === 'parcel' ? 'Cooled parcel' : 'Fetch it in the shop'}
            required
            autoFocus={entity === null}
            maxLength={100}
            value={values.name}
            error={errors.name}
            onChange={({ currentTarget }) => edit({ name: currentTarget.value })}
          />
          <Textarea
            label={methodLabels.text}
            description="Such as what they must do"
            autosize
            maxLength={500}
            value={values.text}
            error={errors.text}
            onChange={({ currentTarget }) => edit({ text: currentTarget.value })}
          />
          <Checkbox
            label={methodLabels.isEnabled}
            checked={values.isEnabled}
            onChange={({ currentTarget }) => edit({ isEnabled: currentTarget.checked })}
          />
        </Stack>
      </section>
      <section className="card" aria-label="What it costs">
        <Stack gap="sm">
          <Rates {...form} />
          <NumberField
            label={`${methodLabels.freeFrom} (${currencySymbol})`}
            description="When the cheeses cost this or more, after a discount. Empty: never free"
            rules={priceRules}
            value={values.freeFrom}
            error={errors.freeFrom}
            onChange={(freeFrom) => edit({ freeFrom })}
          />
        </Stack>
      </section>
      <Places {...form} />
      <Days {...form} />
    </>
  );
}

function Rates({ values, edit, errors }: Props) {
  const { rates, kind } = values;
  const set = (next: MethodValues['rates']) => edit({ rates: next });
  return (
    <section aria-label={methodLabels.rates}>
      <Text size="sm" fw={600}>
        {methodLabels.rates}
      </Text>
      <Text size="xs" c="dimmed" mb={4}>
        {kind === 'pickup'
          ? 'Usually none: then it is free.'
          : 'Of cheeses and packaging. It does not take parcels above the last weight.'}
      </Text>
      <Stack gap="xs">
        {rates.map((rate, index) => {
          const change = (changes: Partial<typeof rate>) =>
            set(rates.map((other, at) => (at === index ? { ...other, ...changes } : other)));
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place alone.
            <Group key={index} gap="xs" align="start" wrap="nowrap">
              <NumberField
                w={130}
                aria-label={`Charge ${index + 1}: up to kilograms`}
                placeholder="2"
                leftSection={<Text size="xs">up to</Text>}
                leftSectionWidth={52}
                rightSection={<Text size="xs">kg</Text>}
                rules={kilogramRules}
                value={rate.upToKg}
                error={errors[`rates[${index}].upToGrams`]}
                onChange={(upToKg) => change({ upToKg })}
              />
              <NumberField
                flex={1}
                aria-label={`Charge ${index + 1}: amount`}
                placeholder="6.90"
                leftSection={<Text size="xs">{currencySymbol}</Text>}
                rules={priceRules}
                value={rate.amount}
                error={errors[`rates[${index}].amount`]}
                onChange={(amount) => change({ amount })}
              />
              <ActionIcon
                size="lg"
                variant="subtle"
                color="gray"
                aria-label={`Remove charge ${index + 1}`}
                title={`Remove charge ${index + 1}`}
                onClick={() => set(rates.filter((_, at) => at !== index))}
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
            disabled={rates.length >= ratesMax}
            onClick={() => set([...rates, newRate])}
          >
            Add a weight
          </Button>
        </div>
        {errors.rates === undefined ? null : (
          <Text size="xs" c="red" role="alert">
            {errors.rates}
          </Text>
        )}
      </Stack>
    </section>
  );
}

function Places({ values, edit, errors }: Props) {
  const { countries } = values;
  return (
    <section className="card" aria-label="Where it goes">
      <Stack gap="sm">
        <Input.Wrapper
          label={methodLabels.countries}
          labelElement="div"
          description={countries.length === 0 ? 'None chosen: every country' : 'Only these'}
        >
          <Group gap={6} mt={4}>
            {countries.map((code) => (
              <Button
                key={code}
                size="compact-xs"
                variant="default"
                rightSection={<Cross2Icon aria-hidden="true" />}
                aria-label={`Remove ${countryName(code)}`}
                onClick={() => edit({ countries: countries.filter((one) => one !== code) })}
              >
                {countryName(code)}
              </Button>
            ))}
          </Group>
        </Input.Wrapper>
        <CountrySelect
          // The field is empty again after each choice.
          key={countries.length}
          size="sm"
          label="Add a country"
          value={null}
          error={Object.entries(errors).find(([field]) => field.startsWith('countries'))?.[1]}
          onChange={(code) => {
            if (code !== null && !countries.includes(code)) {
              edit({ countries: [...countries, code] });
            }
          }}
        />
        <TextInput
          label={methodLabels.zipPrefixes}
          description="Such as 30, 31. Empty: all zip codes"
          value={values.zipPrefixes}
          error={Object.entries(errors).find(([field]) => field.startsWith('zipPrefixes'))?.[1]}
          onChange={({ currentTarget }) => edit({ zipPrefixes: currentTarget.value })}
        />
      </Stack>
    </section>
  );
}

function Days({ values, edit, errors }: Props) {
  const isParcel = values.kind === 'parcel';
  return (
    <section className="card" aria-label="When it goes">
      <Stack gap="sm">
        <DaysField
          label={methodLabels.shipDays}
          description={isParcel ? 'Days on which parcels leave the shop' : 'Days on which orders get ready'}
          value={values.shipDays}
          error={errors.shipDays}
          onChange={(shipDays) => edit({ shipDays })}
        />
        <SimpleGrid cols={2} spacing="sm">
          <TextInput
            label={methodLabels.cutOff}
            description="To leave on the same day"
            type="time"
            value={values.cutOff}
            error={errors.cutOff}
            onChange={({ currentTarget }) => edit({ cutOff: currentTarget.value })}
          />
          {isParcel ? (
            <NumberField
              label={methodLabels.transitDays}
              description="Empty: not known"
              placeholder="1"
              rules={transitRules}
              value={values.transitDays}
              error={errors.transitDays}
              onChange={(transitDays) => edit({ transitDays })}
            />
          ) : null}
        </SimpleGrid>
        {isParcel && values.transitDays.trim() !== '' ? (
          <DaysField
            label={methodLabels.deliveryDays}
            description="Only these days count"
            value={values.deliveryDays}
            error={errors.deliveryDays}
            onChange={(deliveryDays) => edit({ deliveryDays })}
          />
        ) : null}
        <NumberField
          label={methodLabels.position}
          description="Customers see small numbers first"
          rules={positionRules}
          value={values.position}
          error={errors.position}
          onChange={(position) => edit({ position })}
        />
      </Stack>
    </section>
  );
}
