/** A field for a number. It keeps the text that was written, and says under it why a text is not read as a number. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { type NumberRules, readNumber } from './number.ts';

interface Props extends Omit<TextInputProps, 'value' | 'onChange'> {
  readonly rules: NumberRules;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function NumberField({ rules, value, onChange, error, ...others }: Props) {
  // A minus sign is the beginning of a number, and not on the numeric keyboards of all phones.
  const problem = rules.min < 0 && value === '-' ? null : readNumber(value, rules).problem;
  const keyboard = rules.min < 0 ? 'text' : rules.decimals > 0 ? 'decimal' : 'numeric';
  return (
    <TextInput
      {...others}
      inputMode={keyboard}
      autoComplete="off"
      value={value}
      error={problem ?? error}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
