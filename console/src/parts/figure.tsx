/** A figure with its label, and what it is compared with. */
import { Text } from '@mantine/core';
import { Link } from 'wouter';

interface Props {
  readonly label: string;
  /** Undefined while it is loading, or cannot be read. */
  readonly value: string | undefined;
  readonly note?: string | null;
  readonly href?: string;
  readonly isLate?: boolean;
}

export function Figure({ label, value, note, href, isLate = false }: Props) {
  const content = (
    <>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="xl" fw={700} className="figure" {...(isLate ? { c: 'var(--curd-late)' } : {})}>
        {value ?? '–'}
      </Text>
      <Text size="xs" c="dimmed" mih="1.2rem" className="figure-note">
        {note ?? ''}
      </Text>
    </>
  );
  return href === undefined ? (
    <div className="card">{content}</div>
  ) : (
    <Link href={href} className="card figure-link">
      {content}
    </Link>
  );
}
