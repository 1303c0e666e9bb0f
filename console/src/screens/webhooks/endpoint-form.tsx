/** Creates an endpoint, or changes one. */
import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { isCurdError, type WebhookEndpoint } from '../../../../client/src/index.ts';
import { messageOf } from '../../session.ts';
import { typesMax } from '../events/event-types.ts';
import { TypeBoxes } from './type-boxes.tsx';

export interface EndpointFields {
  readonly url: string;
  readonly types: string[] | null;
  readonly description: string | null;
}

interface Props {
  /** The endpoint to change; absent for a new one. */
  readonly endpoint?: WebhookEndpoint;
  readonly onSave: (fields: EndpointFields) => Promise<unknown>;
  readonly onClose: () => void;
}

export function EndpointForm({ endpoint, onSave, onClose }: Props) {
  const [failure, setFailure] = useState<string | null>(null);
  const [types, setTypes] = useState<readonly string[] | null>(endpoint?.types ?? null);
  const form = useForm({
    initialValues: { url: endpoint?.url ?? '', description: endpoint?.description ?? '' },
  });
  const isTypesValid = types === null || (types.length > 0 && types.length <= typesMax);

  async function save({ url, description }: typeof form.values): Promise<void> {
    setFailure(null);
    try {
      await onSave({
        url: url.trim(),
        types: types === null ? null : [...types],
        description: description.trim() || null,
      });
    } catch (error) {
      const errors = isCurdError(error) ? error.errors : [];
      form.setErrors(Object.fromEntries(errors.map(({ field, message }) => [field, message])));
      setFailure(
        errors.some(({ field }) => ['url', 'description'].includes(field)) ? null : messageOf(error),
      );
    }
  }

  return (
    <Modal opened onClose={onClose} title={endpoint === undefined ? 'New webhook' : 'Edit webhook'} size="lg">
      <form onSubmit={form.onSubmit(save)} noValidate>
        <Stack gap="sm">
          <TextInput
            data-autofocus
            label="URL"
            description="Where events are sent, by POST. Outside of local it begins with https://."
            placeholder="https://warehouse.example/curd"
            required
            {...form.getInputProps('url')}
          />
          <TextInput label="Description" maxLength={500} {...form.getInputProps('description')} />
          <TypeBoxes value={types} onChange={setTypes} />
          {failure === null ? null : <Alert color="red">{failure}</Alert>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={form.submitting}
              disabled={form.values.url === '' || !isTypesValid}
            >
              {endpoint === undefined ? 'Create' : 'Save'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
