/** The actions on API keys: their dialogs, and the secret that some of them show once. */
import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { ApiKey } from '../../../../client/src/index.ts';
import { useCurd } from '../../data/queries.ts';
import { invalidate, readEffects } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { notifications } from '../../parts/notifications.tsx';
import { RenameKey, RotateKey } from './key-dialogs.tsx';
import { keyName } from './key-parts.tsx';
import { NewKey } from './new-key.tsx';

type NewKeyResult = Pick<ApiKey, 'id' | 'kind'> & { readonly key: string };
type Requested = { readonly action: 'rename' | 'rotate' | 'revoke'; readonly key: ApiKey };

interface KeyActions {
  readonly create: () => void;
  /** The link to the requests of a key, and the buttons for its changes. */
  readonly buttonsOf: (key: ApiKey) => ReactNode;
  /** The secret that is shown, and the open dialog. */
  readonly shown: ReactNode;
}

export function useKeyActions(account: string): KeyActions {
  const [requested, setRequested] = useState<'create' | Requested | null>(null);
  const [secret, setSecret] = useState<
    (Pick<NewKeyResult, 'id' | 'key'> & { readonly title: string }) | null
  >(null);
  const close = () => setRequested(null);
  function showNew(title: string, { id, kind, key }: NewKeyResult): void {
    close();
    if (kind === 'publishable') {
      notifications.show({ message: `${title} is in the list.`, autoClose: 5000 });
    } else {
      setSecret({ title, id, key });
    }
  }
  return {
    create: () => setRequested('create'),
    buttonsOf: (key) => [
      <Button
        key="requests"
        size="compact-sm"
        variant="subtle"
        component={Link}
        href={`/requests?credential=key:${key.id}`}
        aria-label={`Requests of ${keyName(key)}`}
      >
        Requests
      </Button>,
      ...(['rename', 'rotate', 'revoke'] as const).map((action) => (
        <Button
          key={action}
          size="compact-sm"
          variant="subtle"
          color={action === 'revoke' ? 'red' : 'rind'}
          aria-label={`${action} ${keyName(key)}`}
          tt="capitalize"
          onClick={() => setRequested({ action, key })}
        >
          {action}
        </Button>
      )),
    ],
    shown: (
      <>
        {secret === null ? null : (
          <SecretOnce title={secret.title} secret={secret.key} onHidden={() => setSecret(null)} />
        )}
        {requested === null ? null : requested === 'create' ? (
          <NewKey
            account={account}
            onClose={close}
            onCreated={(key) => showNew(`The new key ${key.name ?? ''} of ${account}`, key)}
          />
        ) : requested.action === 'rename' ? (
          <RenameKey apiKey={requested.key} onClose={close} />
        ) : requested.action === 'rotate' ? (
          <RotateKey
            apiKey={requested.key}
            onClose={close}
            onRotated={(key) => showNew(`The key that replaces ${keyName(requested.key)}`, key)}
          />
        ) : (
          <RevokeKey
            apiKey={requested.key}
            onRevoked={() => setSecret((shown) => (shown?.id === requested.key.id ? null : shown))}
            onClose={close}
          />
        )}
      </>
    ),
  };
}

interface RevokeProps {
  readonly apiKey: ApiKey;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeKey({ apiKey, onRevoked, onClose }: RevokeProps) {
  const curd = useCurd();
  return (
    <Confirm
      title={`Revoke ${keyName(apiKey)}`}
      action="Revoke"
      text="Programs that use it are refused from their next request on."
      readEffects={() => readEffects((options) => curd.apiKeys.revoke(apiKey.id, options))}
      names={{ [`api_key:${apiKey.id}`]: keyName(apiKey) }}
      onConfirm={async () => {
        await curd.apiKeys.revoke(apiKey.id);
        onRevoked();
        await invalidate('access');
      }}
      onClose={onClose}
    />
  );
}
