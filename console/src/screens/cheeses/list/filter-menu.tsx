/** A button that opens the values of one filter, with how many cheeses each leads to. */
import { Button, Checkbox, Group, Popover, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { ChevronDownIcon } from '@radix-ui/react-icons';
import { type ReactNode, useState } from 'react';
import { showNumber } from '../../../parts/text/format.ts';

interface Frame {
  readonly label: string;
  /** What is chosen, in short; null for nothing. */
  readonly chosen: string | null;
  readonly children: ReactNode;
}

export function FilterFrame({ label, chosen, children }: Frame) {
  return (
    <Popover position="bottom-start" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="xs"
          variant={chosen === null ? 'default' : 'light'}
          rightSection={<ChevronDownIcon aria-hidden="true" />}
        >
          {chosen === null ? label : `${label}: ${chosen}`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={label} p="sm" maw={320}>
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}

interface FacetValue {
  readonly value: string;
  /** null if the server does not count, because more than 2,000 cheeses match. */
  readonly count: number | null;
}

interface Props {
  readonly label: string;
  readonly values: readonly FacetValue[];
  /** How many values are not listed. */
  readonly more: number;
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: string[]) => void;
  /** One value can be chosen at a time. */
  readonly isSingle?: boolean;
  readonly nameOf?: (value: string) => string;
  readonly children?: ReactNode;
}

const searchableFrom = 8;

export function FilterMenu(props: Props) {
  const { label, values, more, chosen, onChoose, isSingle = false, nameOf = String, children } = props;
  const [text, setText] = useState('');
  const missing = chosen.filter((value) => !values.some((known) => known.value === value));
  const shown = [...missing.map((value) => ({ value, count: 0 })), ...values].filter(({ value }) =>
    nameOf(value).toLowerCase().includes(text.trim().toLowerCase()),
  );

  function toggle(value: string): void {
    if (chosen.includes(value)) {
      onChoose(chosen.filter((other) => other !== value));
    } else {
      onChoose(isSingle ? [value] : [...chosen, value]);
    }
  }

  return (
    <FilterFrame label={label} chosen={chosen.length === 0 ? null : chosen.map(nameOf).join(', ')}>
      <Stack gap="xs" miw={200}>
        {children}
        {values.length + more > searchableFrom ? (
          <TextInput
            size="xs"
            aria-label={`Search ${label.toLowerCase()}`}
            placeholder={`Search ${label.toLowerCase()}`}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
        ) : null}
        <ScrollArea.Autosize mah={280} type="auto" offsetScrollbars="present">
          <Stack gap={6}>
            {shown.map(({ value, count }) => (
              <Checkbox
                key={value}
                size="xs"
                checked={chosen.includes(value)}
                onChange={() => toggle(value)}
                styles={{ body: { alignItems: 'center' }, labelWrapper: { flex: 1 } }}
                label={
                  <Group justify="space-between" wrap="nowrap" gap="md">
                    <span>{nameOf(value)}</span>
                    <Text span size="xs" c="dimmed" className="figure">
                      {count === null ? '' : showNumber(count)}
                    </Text>
                  </Group>
                }
              />
            ))}
            {shown.length === 0 ? (
              <Text size="xs" c="dimmed">
                Nothing to choose
              </Text>
            ) : null}
          </Stack>
        </ScrollArea.Autosize>
        {more > 0 ? (
          <Text size="xs" c="dimmed">
            {showNumber(more)} more are not listed: set another filter first.
          </Text>
        ) : null}
      </Stack>
    </FilterFrame>
  );
}
