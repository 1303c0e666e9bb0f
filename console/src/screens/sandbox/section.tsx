/** A part of the screen: its heading, what it is for, and its controls. */
import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  readonly title: string;
  readonly about: string;
  readonly children: ReactNode;
}

export function Section({ title, about, children }: Props) {
  return (
    <section className="card" aria-label={title}>
      <Title order={2} size="h5">
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {about}
      </Text>
      {children}
    </section>
  );
}
