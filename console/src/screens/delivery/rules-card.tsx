/** Rules for the delivery of all orders. */
import { Alert, Checkbox, Group, Stack, Text, Title } from '@mantine/core';
import { Conflict } from '../../parts/dialogs/conflict.tsx';
import { NumberField } from '../../parts/fields/number-field.tsx';
import { SaveButtons } from '../../parts/forms/save-buttons.tsx';
import { toMessage } from '../../session/session.ts';
import { packagingRules, type RulesForm, ruleLabels } from '../shop/shop-rules.ts';

export function RulesCard({ form }: { readonly form: RulesForm }) {
  const { values, edit } = form;
  return (
    <section className="card" aria-label="Rules">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          Rules
        </Title>
        <Group gap="xs">
          <SaveButtons
            isChanged={form.isChanged}
            isSaving={form.isSaving}
            onSave={form.save}
            onDiscard={form.discard}
          />
        </Group>
      </Group>
      <Stack gap="sm">
        {form.failure === null ? null : (
          <Alert color="red" variant="light" title="It was not saved" role="alert">
            {toMessage(form.failure)}
          </Alert>
        )}
        <Checkbox
          label={ruleLabels.required}
          description="An order that names no method gets the cheapest parcel that serves it, and is refused if there is none."
          checked={values.required}
          onChange={({ currentTarget }) => edit({ required: currentTarget.checked })}
        />
        <NumberField
          label={ruleLabels.packagingGrams}
          description="Of an empty parcel. It is added to the weight of the cheeses"
          maw={280}
          rules={packagingRules}
          rightSection={<Text size="xs">g</Text>}
          value={values.packagingGrams}
          onChange={(packagingGrams) => edit({ packagingGrams })}
        />
      </Stack>
      {form.conflict === null ? null : (
        <Conflict
          title="Rules of delivery"
          {...form.conflict}
          nameOf={(field) => ruleLabels[field as keyof typeof ruleLabels]}
        />
      )}
    </section>
  );
}
