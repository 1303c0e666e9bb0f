/** The days and the step that Sales shows. They are in the URL. */
import { Button, Group, SegmentedControl, TextInput } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { type chosenIn, listPresets, type Range, steps } from './range.ts';

type Chosen = ReturnType<typeof chosenIn>;

interface Props {
  readonly chosen: Chosen;
  /** Null if the days are not valid. */
  readonly range: Range | null;
  readonly today: string;
}

const labels = { day: 'Day', week: 'Week', month: 'Month' } as const;

export function RangeFields({ chosen, range, today }: Props) {
  const [, setSearch] = useSearchParams();
  function change(next: Partial<Chosen>): void {
    const { from, last, step } = { ...chosen, ...next };
    setSearch({ from, to: last, ...(step === 'day' ? {} : { step }) }, { replace: true });
  }
  const dayField = (label: string, day: string, key: 'from' | 'last') => (
    <TextInput
      label={label}
      type="date"
      min="2000-01-01"
      max="2999-12-31"
      value={day}
      error={key === 'last' && range === null ? 'Before the first day' : null}
      // An incomplete date is empty. The server counts from the year 2000 on.
      onChange={({ currentTarget: { value } }) => {
        if (value >= '2000') {
          change({ [key]: value });
        }
      }}
      {...(key === 'from' ? { 'data-screen-search': true } : {})}
      style={{ flex: '1 1 8.5rem', maxWidth: '11rem' }}
    />
  );
  return (
    <>
      <Group align="start" gap="sm" mb="xs">
        {dayField('First day', chosen.from, 'from')}
        {dayField('Last day', chosen.last, 'last')}
        <SegmentedControl
          aria-label="Step"
          value={range?.step ?? chosen.step}
          data={steps.map((value) => ({ value, label: labels[value] }))}
          onChange={(value) => change({ step: steps.find((known) => known === value) ?? 'day' })}
          mt={{ base: 0, sm: 25 }}
        />
      </Group>
      <Group gap={6} mb="sm">
        {listPresets(today).map(({ label, from, last }) => (
          <Button
            key={label}
            size="compact-xs"
            variant={from === chosen.from && last === chosen.last ? 'filled' : 'default'}
            aria-pressed={from === chosen.from && last === chosen.last}
            onClick={() => change({ from, last })}
          >
            {label}
          </Button>
        ))}
      </Group>
    </>
  );
}
