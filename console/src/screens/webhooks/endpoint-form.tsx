/** Creates an endpoint, or changes one. If another person has changed the same fields, it asks which version is kept. */
import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { etagOf, isCurdError, type WebhookEndpoint } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { useAction } from '../../parts/action.ts';
import { Conflict } from '../../parts/dialogs/conflict.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { changedValues, contestedNames } from '../../parts/forms/changed-values.ts';
import { typesMax } from '../events/event-types.ts';
import { TypeBoxes } from './type-boxes.tsx';

interface EndpointFields {
  readonly url: string;
  readonly types: string[] | null;
  readonly description: string | null;
}

interface Props {
  /** The endpoint that was read for this form; absent for a new one. */
  readonly endpoint?: WebhookEndpoint;
  /** @param ifMatch the version that is changed */
  readonly onSave: (fields: EndpointFields, ifMatch: string | undefined) => Promise<unknown>;
  readonly onClose: () => void;
}

interface FormConflict {
  /** The fields that both have changed. */
  readonly mine: Partial<EndpointFields>;
  /** All fields, with one's own changes. */
  readonly merged: EndpointFields;
  readonly current: WebhookEndpoint;
}

const names = ['url', 'types', 'description'] as const;

function showField(value: unknown): string {
  return value === null ? '-' : Array.isArray(value) ? value.join(', ') : String(value);
}

const fieldsOf = ({ url, types, description }: EndpointFields): EndpointFields => ({
  url,
  types,
  description,
});

export function EndpointForm({ endpoint, onSave, onClose }: Props) {
  const curd = useCurd();
  const { run } = useAction();
  const [base, setBase] = useState(endpoint);
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [types, setTypes] = useState<readonly string[] | null>(endpoint?.types ?? null);
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [conflict, setConflict] = useState<FormConflict | null>(null);
  const isTypesValid = types === null || (types.length > 0 && types.length <= typesMax);

  async function save(fields: EndpointFields, version: WebhookEndpoint | undefined): Promise<void> {
    setErrors({});
    try {
      await onSave(fields, version && etagOf(version));
    } catch (error) {
      if (version === undefined || !isCurdError(error, 'precondition_failed')) {
        throw error;
      }
      const current = await curd.webhookEndpoints.get(version.id);
      const changes = changedValues(fields, fieldsOf(version));
      const contested = contestedNames(changes, fieldsOf(version), fieldsOf(current));
      const merged = { ...fieldsOf(current), ...changes };
      if (contested.length === 0) {
        show(merged, current);
        await onSave(merged, etagOf(current));
      } else {
        setConflict({ mine: pick(fields, contested), merged, current });
      }
    }
  }

  function show(fields: EndpointFields, version: WebhookEndpoint): void {
    setBase(version);
    setUrl(fields.url);
    setDescription(fields.description ?? '');
    setTypes(fields.types);
  }

  const written = {
    url: url.trim(),
    types: types === null ? null : [...types],
    description: description.trim() || null,
  };
  if (conflict !== null) {
    const { mine, merged, current } = conflict;
    return (
      <Conflict
        title={`Webhook ${new URL(current.url).host}`}
        mine={mine}
        theirs={{ ...fieldsOf(current) }}
        show={showField}
        onClose={() => setConflict(null)}
        onResolve={(kept) => {
          const others = Object.keys(mine).filter((name) => !kept.includes(name));
          const chosen = { ...merged, ...pick(current, others) };
          show(chosen, current);
          setConflict(null);
          void run(null, () => save(chosen, current));
        }}
      />
    );
  }
  return (
    <FormDialog
      title={endpoint === undefined ? 'New webhook' : 'Edit webhook'}
      action={endpoint === undefined ? 'Create' : 'Save'}
      size="lg"
      isDisabled={url === '' || !isTypesValid}
      onErrors={setErrors}
      onSubmit={() => save(written, base)}
      onClose={onClose}
    >
      <TextInput
        data-autofocus
        label="URL"
        description="Where events are sent, by POST. Outside of local it begins with https://."
        placeholder="https://warehouse.example/curd"
        required
        value={url}
        error={errors.url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <TextInput
        label="Description"
        maxLength={500}
        value={description}
        error={errors.description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
      <TypeBoxes value={types} onChange={setTypes} />
    </FormDialog>
  );
}

function pick(fields: EndpointFields, wanted: readonly string[]): Partial<EndpointFields> {
  return Object.fromEntries(
    names.filter((name) => wanted.includes(name)).map((name) => [name, fields[name]]),
  );
}
