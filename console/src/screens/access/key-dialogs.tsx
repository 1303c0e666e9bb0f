/** Dialogs that create, rename and rotate an API key. */
import { Checkbox, Code, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ApiKey, Body, Result } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { invalidate } from '../../parts/action.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';

type NewKeyScope = NonNullable<Body<'createApiKey'>['scopes']>[number];

/** Scopes that change what a key can do. */
const scopes: readonly (readonly [NewKeyScope, string])[] = [
  ['read:cheeses', 'Read the two older lists, findByStatus and findByTags (others need no scope)'],
  ['write:cheeses', 'Change cheeses, images and stock'],
  ['write:orders', 'Place and cancel orders for customers'],
];

const lifetimes = [
  { value: '', label: 'Never' },
  { value: '30d', label: 'In 30 days' },
  { value: '90d', label: 'In 90 days' },
  { value: '365d', label: 'In a year' },
];

interface NewKeyProps {
  readonly account: string;
  /** Chosen when the dialog opens. */
  readonly chosen?: readonly NewKeyScope[];
  readonly onCreated: (key: Result<'createApiKey'>) => void;
  readonly onClose: () => void;
}

export function NewKey({ account, chosen: preset = [], onCreated, onClose }: NewKeyProps) {
  const curd = useCurd();
  const [name, setName] = useState('');
  const [kind, setKind] = useState('usual');
  const [chosen, setChosen] = useState<string[]>([...preset]);
  const [expiresIn, setExpiresIn] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const isAdmin = kind === 'admin';
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return (
    <FormDialog
      title="New API key"
      action="Create"
      isDisabled={isAdmin}
      onErrors={setErrors}
      onClose={onClose}
      onSubmit={async () => {
        const key = await curd.apiKeys.create({
          account,
          name: name.trim() === '' ? null : name.trim(),
          scopes: chosen as NewKeyScope[],
          ...(expiresIn === '' ? {} : { expiresIn }),
        });
        onCreated(key);
        await invalidate('access');
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        description="The program that uses it"
        maxLength={100}
        value={name}
        error={errors.name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Radio.Group label="Rights" value={kind} onChange={setKind}>
        <Stack gap={6} mt={4}>
          <Radio value="usual" label="Read, and what is chosen here" />
          <Checkbox.Group value={chosen} onChange={setChosen} aria-label="Scopes">
            <Stack gap={6} ml="xl">
              {scopes.map(([scope, text]) => (
                <Checkbox key={scope} value={scope} label={text} disabled={isAdmin} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Radio value="admin" label="Everything an operator can do (admin)" />
        </Stack>
      </Radio.Group>
      {isAdmin ? (
        <div>
          <Text size="sm">Only the command line creates a key with admin. Run this where the shop runs:</Text>
          <Code
            block
            style={{ whiteSpace: 'pre-wrap' }}
          >{`npx curd keys create --account ${quoted(account)} --scope admin`}</Code>
        </div>
      ) : (
        <Select
          label="Expires"
          data={lifetimes}
          value={expiresIn}
          allowDeselect={false}
          error={errors.expiresIn}
          onChange={(value) => setExpiresIn(value ?? '')}
        />
      )}
    </FormDialog>
  );
}

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
      title={`Rotate ${apiKey.name ?? `key …${apiKey.last4}`}`}
      action="Rotate"
      onClose={onClose}
      onSubmit={async () => {
        onRotated(await curd.apiKeys.rotate(apiKey.id, { overlap }));
        await invalidate('access');
      }}
    >
      <Text size="sm">A new key with the same name and scopes replaces this one.</Text>
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
