/** The form of a cheese that does not exist yet. */
import { Alert, SimpleGrid, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { Body } from '../../../../client/src/index.ts';
import { useSignedIn } from '../../data/queries.ts';
import { changedValues } from '../../parts/forms/changed-values.ts';
import { SaveButtons } from '../../parts/forms/save-buttons.tsx';
import { PageTitle } from '../../parts/page.tsx';
import { keepDraft, readDraft } from '../../session/drafts.ts';
import { CheeseForm } from './form/cheese-form.tsx';
import { emptyValues, type FormValues, isRefused, refusedText, toChanges } from './form/form-values.ts';
import { Preview } from './form/preview.tsx';
import { toSentences } from './form/use-cheese-form.ts';

const draftKey = 'new cheese';

export function NewCheese() {
  const { curd, person } = useSignedIn();
  const [, navigate] = useLocation();
  const [values, setValues] = useState(() => readDraft<FormValues>(draftKey) ?? emptyValues);
  const [isSaving, setSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const { fields, general } = failure === null ? { fields: {}, general: null } : toSentences(failure);
  const isChanged = Object.keys(changedValues(values, emptyValues)).length > 0;
  useEffect(() => keepDraft(draftKey, isChanged ? values : null), [isChanged, values]);

  async function save(): Promise<void> {
    if (isSaving) {
      return;
    }
    if (isRefused(values)) {
      setFailure(new Error(refusedText));
      return;
    }
    setSaving(true);
    setFailure(null);
    try {
      const given = toChanges({ ...changedValues(values, emptyValues), name: values.name });
      const { id } = await curd.cheeses.create(given as Body<'createCheese'>);
      keepDraft(draftKey, null);
      navigate(`/cheeses/${id}`);
    } catch (error) {
      setFailure(error);
      setSaving(false);
    }
  }

  return (
    <>
      <PageTitle title="New cheese">
        <SaveButtons
          action="Create"
          isChanged={isChanged}
          isSaving={isSaving}
          isDisabled={!person.mayWriteCheeses}
          onSave={save}
          onDiscard={() => setValues(emptyValues)}
        />
      </PageTitle>
      {general === null ? null : (
        <Alert color="red" variant="light" title="It was not created" mb="sm">
          {general}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <section className="card">
          <CheeseForm
            values={values}
            errors={fields}
            isNew
            isReadOnly={!person.mayWriteCheeses}
            onChange={(changes) => setValues({ ...values, ...changes })}
          />
        </section>
        <Stack gap="xs">
          <Preview values={values} image={null} />
          <Text size="sm" c="dimmed">
            Images and stock can be added as soon as the cheese is created.
          </Text>
        </Stack>
      </SimpleGrid>
    </>
  );
}
