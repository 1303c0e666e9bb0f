/** A filter of a list by one of a few values, which are all shown. */
import { SegmentedControl } from '@mantine/core';

interface Props<T extends string> {
  readonly label: string;
  readonly values: readonly T[];
  readonly value: T | undefined;
  readonly onChange: (value: T | null) => void;
  readonly nameOf?: (value: T) => string;
  /** What the tab without the filter says. */
  readonly all?: string;
}

export function TabsFilter<T extends string>(props: Props<T>) {
  const { label, values, value, onChange, nameOf = String, all = 'all' } = props;
  return (
    <SegmentedControl
      size="xs"
      aria-label={label}
      data={[
        { value: 'all', label: all },
        ...values.map((value) => ({ value: value as string, label: nameOf(value) })),
      ]}
      value={value ?? 'all'}
      onChange={(chosen) => onChange(values.find((value) => value === chosen) ?? null)}
    />
  );
}
