/** A filter of a list by one of several values. */
import { Select } from '@mantine/core';

interface Props<T extends string> {
  readonly label: string;
  readonly values: readonly T[];
  readonly value: T | undefined;
  readonly onChange: (value: T | null) => void;
  /** That of the longest value, in CSS. */
  readonly width?: string;
}

export function SelectFilter<T extends string>(props: Props<T>) {
  const { label, values, value, onChange, width = '6.5rem' } = props;
  return (
    <Select
      label={label}
      placeholder="all"
      clearable
      clearButtonProps={{ 'aria-label': `Any ${label.toLowerCase()}` }}
      data={[...values]}
      value={value ?? null}
      onChange={(chosen) => onChange(values.find((value) => value === chosen) ?? null)}
      style={{ flex: `0 1 ${width}`, minWidth: 0 }}
    />
  );
}
