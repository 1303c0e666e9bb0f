/** A secret that the server shows once: it can be copied, and is hidden after 60 seconds, unless more are asked for. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useReturnFocus } from './return-focus.ts';

const shownSeconds = 60;

interface Props {
  readonly title: string;
  readonly secret: string;
  readonly onHidden: () => void;
}

export function SecretOnce({ title, secret, onHidden }: Props) {
  const [left, setLeft] = useState(shownSeconds);
  const clipboard = useClipboard();
  useReturnFocus();
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
    <Alert color="rind" variant="light" title={title} className="secret">
      <Stack gap="xs">
        <Code block data-testid="secret">
          {secret}
        </Code>
        {clipboard.error === null ? null : (
          <Text size="sm">
            The browser does not let this page copy. Click the text above, which selects it.
          </Text>
        )}
        <Text size="sm">It is shown once. It is hidden in {Math.max(0, left)} s.</Text>
        <Group gap="xs">
          <Button size="xs" autoFocus onClick={() => clipboard.copy(secret)}>
            {clipboard.copied ? 'Copied' : 'Copy'}
          </Button>
          <Button size="xs" variant="default" onClick={() => setLeft(shownSeconds)}>
            Keep for {shownSeconds} s more
          </Button>
          <Button size="xs" variant="default" onClick={onHidden}>
            Hide
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
