/** Sign-in, as a page or as a dialog over the screens, and the page of staff who wait for the approval of an operator. */
import {
  Alert,
  Anchor,
  Button,
  Code,
  CopyButton,
  Group,
  Loader,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { shopCommand, shopName } from '../environment.ts';
import { Dialog } from '../parts/dialogs/dialog.tsx';
import type { Person } from '../session/person.ts';
import {
  checkApproval,
  enterWithoutAdmin,
  signInByLink,
  signInWithPassword,
  signOut,
} from '../session/session.ts';
import { EnvironmentBar } from './shell.tsx';

/** How often the page asks whether an operator has decided. */
const checkMs = 5000;
/** Higher than dialogs, drawers and notifications. */
const aboveDialogs = 500;
/** Escape, pressed in the dialog for the sign-in, must not close a dialog below it. */
const keepsDialogs = { 'data-mantine-stop-propagation': 'true' };

function Page({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <EnvironmentBar />
      <main style={{ maxWidth: '28rem', margin: '12vh auto 0', padding: '0 16px' }}>
        <Stack className="card" p="lg">
          <Title order={1} size="h3">
            {shopName}
          </Title>
          {children}
        </Stack>
      </main>
    </>
  );
}

function Command({ text }: { readonly text: string }) {
  return (
    <Group gap="xs" wrap="nowrap" align="stretch">
      <Code block flex={1} miw={0} tabIndex={0}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} style={{ height: 'auto' }}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}

/** The two ways to sign in. */
function Ways({ message }: { readonly message: string | null }) {
  const [link, setLink] = useState('');
  const [isRunning, setRunning] = useState(false);

  async function enter(event: FormEvent): Promise<void> {
    event.preventDefault();
    setRunning(true);
    await signInByLink(link);
    setRunning(false);
  }

  return (
    <Stack>
      {message === null ? null : (
        <Alert color="red" variant="light" role="alert">
          {message}
        </Alert>
      )}
      <Button onClick={signInWithPassword} {...keepsDialogs}>
        Sign in with a password
      </Button>
      <Text size="sm" c="dimmed">
        Or run this command where the shop runs, and open the link that it prints, or paste it here:
      </Text>
      <Command text={`${shopCommand} console`} />
      <form onSubmit={(event) => void enter(event)}>
        <Group gap="xs" wrap="nowrap" align="end">
          <TextInput
            label="Link"
            placeholder={`${window.location.origin}/console#link=...`}
            autoComplete="off"
            style={{ flex: 1 }}
            value={link}
            onChange={({ currentTarget }) => setLink(currentTarget.value)}
            {...keepsDialogs}
          />
          <Button
            type="submit"
            variant="default"
            loading={isRunning}
            disabled={link.trim() === ''}
            {...keepsDialogs}
          >
            Use the link
          </Button>
        </Group>
      </form>
    </Stack>
  );
}

interface Props {
  readonly message: string | null;
  readonly isLocked: boolean;
}

export function SignIn({ message, isLocked }: Props) {
  return (
    <Page>
      <Text>
        {isLocked
          ? 'The page is locked, because it was not used for 30 minutes.'
          : 'The console for operators.'}
      </Text>
      <Ways message={message} />
    </Page>
  );
}

/** Covers the screens, whose forms keep what was written. Requests wait, and continue after the sign-in. */
export function SignInAgain({ message }: { readonly message: string }) {
  return (
    <Dialog
      onClose={() => {}}
      title="Sign in again"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={aboveDialogs}
    >
      <Stack>
        <Ways message={message} />
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" c="dimmed">
            What you wrote on this page is kept.
          </Text>
          <Anchor component="button" size="sm" onClick={() => void signOut()} {...keepsDialogs}>
            Sign out
          </Anchor>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** A window that was opened to sign in, if the browser does not let it close itself. */
export function HandedOver() {
  return (
    <Page>
      <Text role="status">You are signed in. Close this window, and continue in the one before.</Text>
    </Page>
  );
}

const decisions = {
  pending: null,
  approved: 'The approval has expired. Sign out, and sign in again.',
  denied: 'An operator has denied this request.',
  revoked: 'An operator has revoked the approval.',
} as const;

/** Staff without the scope admin: what an operator must do. The page continues when it is done. */
export function WaitForApproval({ person }: { readonly person: Person }) {
  const { approval, username } = person;
  useEffect(() => {
    const timer = window.setInterval(() => void checkApproval(), checkMs);
    return () => window.clearInterval(timer);
  }, []);
  if (approval === null) {
    return null;
  }
  const decision = decisions[approval.status];
  return (
    <Page>
      <Text>
        You are signed in as <b>{username}</b>. An operator must approve you for the console: request{' '}
        {approval.id}.
      </Text>
      {decision === null ? null : (
        <Alert color="red" variant="light" role="alert">
          {decision}
        </Alert>
      )}
      <Text size="sm" c="dimmed">
        Another operator approves it under Approvals, or by this command where the shop runs:
      </Text>
      <Command text={`${shopCommand} approvals approve ${approval.id}`} />
      <Group gap="xs" role="status" wrap="nowrap">
        <Loader size="xs" />
        <Text size="sm">This page continues by itself when the request is approved.</Text>
      </Group>
      <Group justify="space-between">
        <Button variant="default" onClick={enterWithoutAdmin}>
          Open the catalogue only
        </Button>
        <Anchor component="button" size="sm" onClick={() => void signOut()}>
          Sign out
        </Anchor>
      </Group>
    </Page>
  );
}
