/** What every screen begins with, and what it shows while it has no data. */
import { Alert, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { isCurdError } from '../../../client/src/index.ts';
import { shopEnvironment, shopName } from '../environment.ts';
import { messageOf } from '../session/session.ts';

/** The heading of a screen, and the title of the document. */
export function PageTitle({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  useEffect(() => {
    const prefix = shopEnvironment === 'production' ? '' : `${shopEnvironment}: `;
    document.title = `${prefix}${title} - ${shopName}`;
  }, [title]);
  return (
    <Group justify="space-between" mb="md" wrap="wrap">
      <Title order={1} size="h3">
        {title}
      </Title>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}

/** While data is loaded for the first time. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <Group p="md" role="status">
      <Loader size="sm" />
      <Text c="dimmed">Loading {what}</Text>
    </Group>
  );
}

/** Instead of data that could not be loaded. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => unknown }) {
  if (isCurdError(error) && (error.status === 404 || error.status === 403)) {
    // Another attempt would not help.
    return <Empty title={error.status === 404 ? 'Not found' : 'Not allowed'}>{messageOf(error)}</Empty>;
  }
  return (
    <Alert color="red" variant="light" title="This could not be loaded" my="sm">
      <Stack gap="xs" align="start">
        <Text size="sm">{messageOf(error)}</Text>
        {retry === undefined ? null : (
          <Button size="xs" variant="default" onClick={() => void retry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Instead of a list without entries: what would be here, and how it gets here. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <Stack align="center" gap={4} py="xl">
      <Text fw={600}>{title}</Text>
      <Text c="dimmed" size="sm" ta="center" maw={420} component="div">
        {children}
      </Text>
    </Stack>
  );
}
