/** Dialogs that rename and rotate an API key. */
import { Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiKey, Result } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { keyName } from './key-parts.tsx';

interface KeyProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

export function RenameKey({ apiKey, onClose }: KeyProps) {
  const curd = useCurd();
  const [name, setName] = useState(apiKey.name ?? '');
  const [errors, setErrors] = useState<Record<string, string>>({});
  return (
    <FormDialog
      title="Rename the key"
      action="Rename"
      onErrors={setErrors}
      onClose={onClose}
      onSubmit={async () => {
        await curd.apiKeys.rename(apiKey.id, { name: name.trim() === '' ? null : name.trim() });
        await invalidate('access');
        onClose();
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        maxLength={100}
        value={name}
        error={errors.name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
    </FormDialog>
  );
}

const overlaps = [
  { value: '0s', label: 'Not at all: the old key ends now' },
  { value: '1h', label: 'For an hour' },
  { value: '24h', label: 'For a day' },
  { value: '7d', label: 'For a week' },
];

export function RotateKey({
  apiKey,
  onRotated,
  onClose,
}: KeyProps & { readonly onRotated: (key: Result<'rotateApiKey'>) => void }) {
  const curd = useCurd();
  const [overlap, setOverlap] = useState('24h');
  return (
    <FormDialog
      title={`Rotate ${keyName(apiKey)}`}
      action="Rotate"
      onClose={onClose}
      onSubmit={async () => {
        onRotated(await curd.apiKeys.rotate(apiKey.id, { overlap }));
        await invalidate('access');
      }}
    >
      <Text size="sm">A new key with the same name, scopes and limits replaces this one.</Text>
      <Select
        label="The old key still works"
        data={overlaps}
        value={overlap}
        allowDeselect={false}
        onChange={(value) => setOverlap(value ?? '24h')}
      />
    </FormDialog>
  );
}
