/** A field for a moment in the local zone. */
import { TextInput } from '@mantine/core';

interface Props {
  readonly label: string;
  /** ISO 8601, or another text, which is shown as no time. */
  readonly time: string | null;
  readonly onChange: (time: string | null) => void;
}

/** Formats a time for `datetime-local`, which has no zone. */
function toLocal(time: string | null): string {
  const at = time === null ? Number.NaN : Date.parse(time);
  return Number.isNaN(at)
    ? ''
    : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function TimeField({ label, time, onChange }: Props) {
  return (
    <TextInput
      label={label}
      type="datetime-local"
      value={toLocal(time)}
      onChange={({ currentTarget: { value } }) =>
        onChange(value === '' ? null : new Date(value).toISOString())
      }
      style={{ flex: '1 1 11rem', maxWidth: '16rem' }}
    />
  );
}
