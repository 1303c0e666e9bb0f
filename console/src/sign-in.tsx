/** The page of a visitor who is not signed in. */
import { Alert, Button, Code, Stack, Text, Title } from '@mantine/core';
import { shopName } from './environment.ts';
import { signInWithPassword } from './session.ts';
import { EnvironmentBar } from './shell.tsx';

interface Props {
  readonly message: string | null;
  readonly isLocked: boolean;
}

export function SignIn({ message, isLocked }: Props) {
  return (
    <>
      <EnvironmentBar />
      <main style={{ maxWidth: '26rem', margin: '12vh auto 0', padding: '0 16px' }}>
        <Stack className="card" p="lg">
          <Title order={1} size="h3">
            {shopName}
          </Title>
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
          <Code block>npx curd console</Code>
        </Stack>
      </main>
    </>
  );
}
