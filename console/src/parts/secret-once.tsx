/** A secret that the server shows once: it can be copied, and is hidden after 60 seconds. */
import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';

const shownMs = 60_000;

interface Props {
  readonly title: string;
  readonly secret: string;
  readonly onHidden: () => void;
}

export function SecretOnce({ title, secret, onHidden }: Props) {
  const [left, setLeft] = useState(shownMs / 1000);
  useEffect(() => {
    const timer = window.setInterval(() => setLeft((seconds) => seconds - 1), 1000);
    return () => window.clearInterval(timer);
  }, []);
  useEffect(() => {
    if (left <= 0) {
      onHidden();
    }
  }, [left, onHidden]);
  return (
    <Alert color="rind" variant="light" title={title}>
      <Stack gap="xs">
        <Code block data-testid="secret">
          {secret}
        </Code>
        <Group justify="space-between">
          <Text size="sm">It is shown once. It is hidden in {Math.max(0, left)} s.</Text>
          <Group gap="xs">
            <CopyButton value={secret}>
              {({ copied, copy }) => (
                <Button size="xs" onClick={copy}>
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
            <Button size="xs" variant="default" onClick={onHidden}>
              Hide
            </Button>
          </Group>
        </Group>
      </Stack>
    </Alert>
  );
}
