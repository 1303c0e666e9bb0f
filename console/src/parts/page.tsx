/** What every screen begins with, and what it shows while it has no data. */
import { Alert, Anchor, Button, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { isCurdError } from '../../../client/src/index.ts';
import { shopEnvironment, shopName } from '../environment.ts';
import { toMessage } from '../session/session.ts';

interface TitleProps {
  readonly title: string;
  /** The list that the screen shows one entry of. */
  readonly back?: { readonly href: string; readonly text: string };
  readonly children?: ReactNode;
}

/** The heading of a screen, and the title of the document. */
export function PageTitle({ title, back, children }: TitleProps) {
  useEffect(() => {
    const prefix = shopEnvironment === 'production' ? '' : `${shopEnvironment}: `;
    document.title = `${prefix}${title} - ${shopName}`;
  }, [title]);
  return (
    <>
      {back === undefined ? null : (
        <Anchor component={Link} href={back.href} size="sm">
          {back.text}
        </Anchor>
      )}
      <Group justify="space-between" mb="md" wrap="wrap">
        <Title order={1} size="h3">
          {title}
        </Title>
        <Group gap="xs">{children}</Group>
      </Group>
    </>
  );
}

interface ReadProps<T> {
  /** What `useApi` and the hooks of lists return. */
  readonly of: {
    readonly data: T | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  /** What is loaded: "the customer". Without it, nothing is shown meanwhile. */
  readonly what?: string;
  /** The heading if there is no data, which has a heading of its own. */
  readonly heading?: ReactNode;
  readonly children: (data: T) => ReactNode;
}

/** Data of the API, or why it is not there. After a later error it stays, unless it was deleted or is forbidden now. */
export function Read<T>({ of: { data, error, refetch }, what, heading, children }: ReadProps<T>) {
  const isShown = data !== undefined && !isFinal(error);
  return (
    <>
      {isShown ? null : heading}
      {error === null ? null : <Problem error={error} retry={refetch} />}
      {data === undefined && error === null && what !== undefined ? <Loading what={what} /> : null}
      {isShown ? children(data) : null}
    </>
  );
}

/** Another attempt would not help. */
const isFinal = (error: unknown) => isCurdError(error) && (error.status === 404 || error.status === 403);

/** Shown while data is loaded for the first time. */
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
  if (isCurdError(error) && isFinal(error)) {
    return <Empty title={error.status === 404 ? 'Not found' : 'Not allowed'}>{toMessage(error)}</Empty>;
  }
  return (
    <Alert color="red" variant="light" title="This could not be loaded" my="sm">
      <Stack gap="xs" align="start">
        <Text size="sm">{toMessage(error)}</Text>
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
