/** The key of the first steps: it may place orders, and is shown as the line that the next step needs. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../data/queries.ts';
import { SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { NewKey } from './new-key.tsx';

interface Props {
  readonly isDone: boolean;
  /** The secret while it is shown: the list of steps stays as long. */
  readonly secret: string | null;
  readonly onSecret: (secret: string | null) => void;
}

export default function FirstKey({ isDone, secret, onSecret }: Props) {
  const [isOpen, setOpen] = useState(false);
  const { data } = useApi(['access', 'accounts'], (curd) => curd.accounts.list());
  const account = data?.items.find(({ name }) => name !== 'console')?.name;
  if (secret !== null) {
    return (
      <SecretOnce
        title="Paste this line into a terminal: the order of a later step is sent with it"
        secret={`KEY=${secret}`}
        onHidden={() => onSecret(null)}
      />
    );
  }
  if (isDone || data === undefined) {
    return null;
  }
  return account === undefined ? (
    <Button component={Link} href="/access" size="compact-sm" variant="default">
      Create an account for it
    </Button>
  ) : (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        Create the key
      </Button>
      {isOpen ? (
        <NewKey
          account={account}
          chosen={['write:orders']}
          onClose={() => setOpen(false)}
          onCreated={({ key }) => {
            setOpen(false);
            onSecret(key);
          }}
        />
      ) : null}
    </>
  );
}
