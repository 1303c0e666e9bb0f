/** Filters of a list by one of a few values, or by none of them. */
import { SegmentedControl, Select } from '@mantine/core';

interface Props<T extends string> {
  readonly label: string;
  readonly values: readonly T[];
  readonly value: T | undefined;
  readonly onChange: (value: T | null) => void;
}

interface TabsProps<T extends string> extends Props<T> {
  readonly nameOf?: (value: T) => string;
  /** What the tab without the filter says. */
  readonly all?: string;
}

export function TabsFilter<T extends string>(props: TabsProps<T>) {
  const { label, values, value, onChange, nameOf = String, all = 'all' } = props;
  return (
    <SegmentedControl
      size="xs"
      aria-label={label}
      data={[
        { value: 'all', label: all },
        ...values.map((one) => ({ value: one as string, label: nameOf(one) })),
      ]}
      value={value ?? 'all'}
      onChange={(chosen) => onChange(values.find((one) => one === chosen) ?? null)}
    />
  );
}

interface SelectProps<T extends string> extends Props<T> {
  /** That of the longest value, in CSS. */
  readonly width?: string;
}

export function SelectFilter<T extends string>(props: SelectProps<T>) {
  const { label, values, value, onChange, width = '6.5rem' } = props;
  return (
    <Select
      label={label}
      placeholder="all"
      clearable
      clearButtonProps={{ 'aria-label': `Any ${label.toLowerCase()}` }}
      data={[...values]}
      value={value ?? null}
      onChange={(chosen) => onChange(values.find((one) => one === chosen) ?? null)}
      style={{ flex: `0 1 ${width}`, minWidth: 0 }}
    />
  );
}
