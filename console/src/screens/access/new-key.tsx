/** The dialog that creates an API key of any kind, and says first what the key may do. */
import { Alert, Code, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Result } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { shopCommand } from '../../environment.ts';
import { invalidate } from '../../parts/action.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { isComplete, type KeyKind, type NewKeyScope, newDraft, toKeyBody, toKeyRights } from './key-draft.ts';
import { describeRights } from './key-rights.ts';
import { PublishableFields, RestrictedFields, ScopeBoxes } from './new-key-fields.tsx';

const kinds: readonly (readonly [KeyKind, string, string])[] = [
  ['secret', 'Secret', 'For a server. It reads all orders and profiles'],
  ['publishable', 'Publishable', 'For a web page or an app, where everybody can read it'],
  ['restricted', 'Restricted', 'For a program or an AI assistant, with a budget'],
];

const lifetimes = [
  { value: '', label: 'Never' },
  { value: '30d', label: 'In 30 days' },
  { value: '90d', label: 'In 90 days' },
  { value: '365d', label: 'In a year' },
];

interface NewKeyProps {
  readonly account: string;
  /** Scopes of a secret key, if another kind would be of no use. */
  readonly chosen?: readonly NewKeyScope[];
  readonly onCreated: (key: Result<'createApiKey'>) => void;
  readonly onClose: () => void;
}

export function NewKey({ account, chosen, onCreated, onClose }: NewKeyProps) {
  const curd = useCurd();
  const [draft, setDraft] = useState(() => newDraft('secret', '', chosen));
  const [isAdmin, setAdmin] = useState(false);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const body = toKeyBody(account, draft);
  const change = (changes: Partial<typeof draft>) => setDraft((old) => ({ ...old, ...changes }));
  const fields = { draft, errors, onChange: change };
  const expiry = draft.kind === 'restricted' ? lifetimes.slice(1) : lifetimes;
  const isAdminOnly = isAdmin && draft.kind === 'secret';
  return (
    <FormDialog
      title="New API key"
      action="Create"
      size="lg"
      isDisabled={isAdminOnly || !isComplete(draft)}
      onErrors={setErrors}
      onClose={onClose}
      onSubmit={async () => {
        setErrors({});
        onCreated(await curd.apiKeys.create(body));
        await invalidate('access');
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        description="The program that uses it"
        maxLength={100}
        value={draft.name}
        error={errors.name}
        onChange={({ currentTarget }) => change({ name: currentTarget.value })}
      />
      {chosen === undefined ? (
        <Radio.Group
          label="Kind"
          value={draft.kind}
          onChange={(kind) => setDraft(newDraft(kind as KeyKind, draft.name))}
        >
          <Stack gap={6} mt={4}>
            {kinds.map(([kind, label, description]) => (
              <Radio key={kind} value={kind} label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
      ) : null}
      {draft.kind === 'publishable' ? (
        <PublishableFields {...fields} />
      ) : draft.kind === 'restricted' ? (
        <RestrictedFields {...fields} />
      ) : (
        <Radio.Group
          label="Rights"
          value={isAdmin ? 'admin' : 'usual'}
          onChange={(value) => setAdmin(value === 'admin')}
        >
          <Stack gap={6} mt={4}>
            <Radio value="usual" label="Read, and what is chosen here" />
            <ScopeBoxes {...fields} isDisabled={isAdmin} />
            <Radio value="admin" label="Everything an operator can do (admin)" />
          </Stack>
        </Radio.Group>
      )}
      {isAdminOnly ? (
        <AdminCommand account={account} />
      ) : (
        <>
          <Select
            label="Expires"
            data={expiry}
            value={draft.expiresIn}
            allowDeselect={false}
            error={errors.expiresIn}
            onChange={(value) => change({ expiresIn: value ?? '' })}
          />
          <Alert color="gray" variant="light" role="status">
            {describeRights(toKeyRights(body))}
          </Alert>
        </>
      )}
    </FormDialog>
  );
}

function AdminCommand({ account }: { readonly account: string }) {
  const quoted = `'${account.replaceAll("'", `'\\''`)}'`;
  return (
    <div>
      <Text size="sm">Only the command line creates a key with admin. Run this where the shop runs:</Text>
      <Code block tabIndex={0}>{`${shopCommand} keys create --account ${quoted} --scope admin`}</Code>
    </div>
  );
}
