/** The page of a visitor who is not signed in, and of staff who wait for the approval of an operator. */
import { Alert, Anchor, Button, Code, CopyButton, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { shopName } from './environment.ts';
import { checkApproval, enterWithoutAdmin, type Person, signInWithPassword, signOut } from './session.ts';
import { EnvironmentBar } from './shell.tsx';

/** How often the page asks whether an operator has decided. */
const checkMs = 5000;

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
      <Code block style={{ flex: 1 }}>
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
      {message === null ? null : (
        <Alert color="red" variant="light" role="alert">
          {message}
        </Alert>
      )}
      <Button onClick={() => void signInWithPassword()}>Sign in</Button>
      <Text size="sm" c="dimmed">
        Or run this command where the shop runs, and open the link that it prints:
      </Text>
      <Command text="npx curd console" />
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
      <Command text={`npx curd approvals approve ${approval.id}`} />
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
