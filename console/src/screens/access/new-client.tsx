/** The dialog that registers an OAuth client. */
import { Checkbox, InputBase, MultiSelect, Select, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Body, Result } from '../../../../client/src/index.ts';
import { useApi, useCurd } from '../../data/queries.ts';
import { shopCommand } from '../../environment.ts';
import { invalidate } from '../../parts/action.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';

type Scopes = Body<'createOauthClient'>['scopes'];

const scopes: Scopes = [
  'read:cheeses',
  'write:cheeses',
  'read:orders',
  'write:orders',
  'read:profile',
  'write:profile',
];

interface Props {
  readonly onCreated: (client: Result<'createOauthClient'>) => void;
  readonly onClose: () => void;
}

export function NewClient({ onCreated, onClose }: Props) {
  const curd = useCurd();
  const { data } = useApi(['access', 'accounts'], (api) => api.accounts.list());
  const [name, setName] = useState('');
  const [account, setAccount] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string[]>([]);
  const [redirects, setRedirects] = useState('');
  const [isPublic, setPublic] = useState(false);
  const [isNative, setNative] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const redirectUris = redirects.split(/\s+/).filter((uri) => uri !== '');
  const redirectError = Object.entries(errors).find(([field]) => field.startsWith('redirectUris'))?.[1];
  return (
    <FormDialog
      title="New OAuth client"
      action="Register"
      onErrors={setErrors}
      onClose={onClose}
      isDisabled={name.trim() === '' || account === null || chosen.length === 0}
      onSubmit={async () => {
        const client = await curd.oauthClients.create({
          name: name.trim(),
          account: account ?? '',
          scopes: chosen as Scopes,
          redirectUris,
          native: isNative,
          public: isPublic,
        });
        onCreated(client);
        await invalidate('access');
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        description="Customers see it when they are asked for consent"
        maxLength={100}
        value={name}
        error={errors.name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Select
        label="Account"
        description="Its plan limits the requests"
        searchable
        data={data?.items.map((account) => account.name) ?? []}
        value={account}
        error={errors.account}
        onChange={setAccount}
      />
      <MultiSelect
        label="Scopes"
        description="What the client may request"
        data={scopes}
        value={chosen}
        error={errors.scopes}
        onChange={setChosen}
      />
      <InputBase
        component="textarea"
        multiline
        rows={3}
        label="Redirect URIs"
        description="One in each line. Without one, no person signs in: the client gets tokens for itself"
        value={redirects}
        error={redirectError}
        onChange={({ currentTarget }) => setRedirects(currentTarget.value)}
      />
      <Checkbox
        label="It cannot keep a secret: a web page or an app"
        checked={isPublic}
        onChange={({ currentTarget }) => setPublic(currentTarget.checked)}
      />
      <Checkbox
        label="It is a native app: loopback redirects on any port"
        checked={isNative}
        onChange={({ currentTarget }) => setNative(currentTarget.checked)}
      />
      <Text size="sm" c="dimmed">
        Only the command line registers a client that may request admin: {shopCommand} clients create --help
      </Text>
    </FormDialog>
  );
}
