/** A filter of a list that is written: the list follows when the writing pauses. */
import { TextInput } from '@mantine/core';
import { useWrittenText } from './use-written-text.ts';

interface Props {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string | number | undefined;
  /** What is said instead of a search for a text that is refused. */
  readonly hint?: { readonly pattern: RegExp; readonly text: string };
  /** `/` moves to it. */
  readonly isSearch?: boolean;
  /** Its share of the width, in CSS. */
  readonly flex?: string;
  readonly onChange: (text: string) => void;
}

export function TextFilter({
  label,
  placeholder,
  text = '',
  hint,
  isSearch = false,
  flex = '1 1 6.5rem',
  onChange,
}: Props) {
  const isRefused = (value: string) => hint !== undefined && value !== '' && !hint.pattern.test(value);
  const { written, write } = useWrittenText(String(text), onChange, isRefused);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      maxLength={200}
      data-screen-search={isSearch || undefined}
      value={written}
      error={isRefused(written.trim()) ? hint?.text : null}
      onChange={({ currentTarget }) => write(currentTarget.value)}
      style={{ flex, minWidth: 0 }}
    />
  );
}
