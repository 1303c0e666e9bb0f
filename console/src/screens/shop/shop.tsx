/** What the shop is: who sells, where, and in which currency. */
import { Alert, Select, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../data/queries.ts';
import { Conflict } from '../../parts/dialogs/conflict.tsx';
import { chooseFirst } from '../../parts/fields/choose-first.ts';
import { CountrySelect } from '../../parts/fields/country-select.tsx';
import { SaveButtons } from '../../parts/forms/save-buttons.tsx';
import { PageTitle, Read } from '../../parts/page.tsx';
import { currencyOptions } from '../../parts/text/currencies.ts';
import { fieldLabels, type ShopField } from './shop-values.ts';
import { shopKey, useShopForm, type VersionedShop, withVersion } from './use-shop-form.ts';

export default function ShopScreen() {
  const shop = useApi(shopKey, async (curd, signal) => withVersion(await curd.shop.get({ signal })));
  return (
    <Read of={shop} what="the shop" heading={<PageTitle title="Shop" />}>
      {(data) => <ShopForm server={data} />}
    </Read>
  );
}

function ShopForm({ server }: { readonly server: VersionedShop }) {
  const form = useShopForm(server);
  const { conflict, failure } = form;
  return (
    <>
      <PageTitle title="Shop">
        <Text size="sm" c="dimmed" role="status">
          {form.isChanged ? 'not saved' : ''}
        </Text>
        <SaveButtons
          isChanged={form.isChanged}
          isSaving={form.isSaving}
          onSave={form.save}
          onDiscard={form.discard}
        />
      </PageTitle>
      {failure.text === undefined ? null : (
        <Alert color="red" variant="light" title="It was not saved" mb="sm" role="alert">
          {failure.text}
        </Alert>
      )}
      <Sections form={form} />
      {conflict === null ? null : (
        <Conflict title="Shop" {...conflict} nameOf={(field) => fieldLabels[field as ShopField]} />
      )}
    </>
  );
}

type Form = ReturnType<typeof useShopForm>;

interface FieldProps {
  readonly form: Form;
  readonly name: ShopField;
  readonly max: number;
  readonly description?: string;
  readonly type?: 'email' | 'tel';
  readonly isRequired?: boolean;
}

function Field({ form, name, max, description, type, isRequired = false }: FieldProps) {
  return (
    <TextInput
      label={fieldLabels[name]}
      description={description}
      type={type}
      required={isRequired}
      maxLength={max}
      autoComplete="off"
      value={form.values[name]}
      error={form.failure.fields[name]}
      onChange={({ currentTarget }) => form.edit({ [name]: currentTarget.value })}
    />
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="card" aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <Stack gap="sm">{children}</Stack>
    </section>
  );
}

function Sections({ form }: { readonly form: Form }) {
  const { values, failure, edit } = form;
  const country = values['address.country'];
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Stack gap="lg">
        <Section title="Who sells">
          <Field form={form} name="name" max={60} isRequired description="On all pages and mails" />
          <Field form={form} name="legalName" max={100} description="If it is not the name" />
          <Field form={form} name="vatId" max={30} />
        </Section>
        <Section title="Contact">
          <Field form={form} name="email" max={254} type="email" description="For customers" />
          <Field form={form} name="phone" max={30} type="tel" description="For customers" />
        </Section>
        <Locale form={form} />
      </Stack>
      <Section title="Address">
        <Field form={form} name="address.street" max={200} />
        <Field form={form} name="address.street2" max={200} />
        <SimpleGrid cols={2} spacing="sm">
          <Field form={form} name="address.zipCode" max={32} />
          <Field form={form} name="address.city" max={100} />
        </SimpleGrid>
        <Field form={form} name="address.state" max={100} />
        <CountrySelect
          size="sm"
          label={fieldLabels['address.country']}
          value={country === '' ? null : country}
          error={failure.fields['address.country']}
          onChange={(code) => edit({ 'address.country': code ?? '' })}
        />
      </Section>
    </SimpleGrid>
  );
}

/** The currency, the time zone, and how both are written. */
function Locale({ form }: { readonly form: Form }) {
  const { values, failure, edit } = form;
  const currencies = useMemo(currencyOptions, []);
  const zones = useMemo(
    () => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')],
    [],
  );
  return (
    <Section title="Money and time">
      <Select
        label={fieldLabels.currency}
        description="Of all prices, which keep their numbers. It cannot change after the first order"
        searchable
        allowDeselect={false}
        nothingFoundMessage="No currency was found"
        data={currencies}
        onKeyDown={chooseFirst}
        value={values.currency}
        error={failure.fields.currency}
        onChange={(currency) => edit({ currency: currency ?? '' })}
      />
      <Select
        label={fieldLabels.timeZone}
        description="In which the shop works"
        searchable
        allowDeselect={false}
        nothingFoundMessage="No time zone was found"
        data={zones.includes(values.timeZone) ? zones : [values.timeZone, ...zones]}
        onKeyDown={chooseFirst}
        value={values.timeZone}
        error={failure.fields.timeZone}
        onChange={(zone) => edit({ timeZone: zone ?? '' })}
      />
      <Field
        form={form}
        name="language"
        max={35}
        isRequired
        description="A language tag, such as en or de-CH"
      />
      <Text size="sm" c="dimmed" role="status" aria-label="Example">
        {exampleOf(values)}
      </Text>
    </Section>
  );
}

/** How customers see amounts and times. '' while a text is no language. */
function exampleOf({ language, timeZone, currency }: Form['values']): string {
  try {
    const amount = new Intl.NumberFormat(language, { style: 'currency', currency }).format(1234.5);
    const format = { dateStyle: 'full', timeStyle: 'short', timeZone } as const;
    return `Example: ${amount}, ${new Intl.DateTimeFormat(language, format).format(new Date())}`;
  } catch {
    return '';
  }
}
