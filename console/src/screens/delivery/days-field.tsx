/** Days of the week. */
import { Checkbox, Group, Input } from '@mantine/core';
import { showWeekday } from '../../parts/text/format.ts';
import { type MethodValues, weekdays } from './method-values.ts';

interface Props {
  readonly label: string;
  readonly description: string;
  readonly value: MethodValues['shipDays'];
  readonly error: string | undefined;
  readonly onChange: (days: MethodValues['shipDays']) => void;
}

export function DaysField({ label, description, value, error, onChange }: Props) {
  return (
    <Input.Wrapper label={label} description={description} error={error} labelElement="div">
      <Group gap="sm" role="group" aria-label={label} mt={4}>
        {weekdays.map((day, index) => (
          <Checkbox
            key={day}
            size="xs"
            label={showWeekday(index)}
            checked={value.includes(day)}
            onChange={({ currentTarget }) =>
              onChange(weekdays.filter((one) => (one === day ? currentTarget.checked : value.includes(one))))
            }
          />
        ))}
      </Group>
    </Input.Wrapper>
  );
}
