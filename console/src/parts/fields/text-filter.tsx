/** A filter of a list that is written: the list follows when the writing pauses. */
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

interface Props {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string | undefined;
  /** What is said instead of a search for a text that is refused. */
  readonly hint?: { readonly pattern: RegExp; readonly text: string };
  readonly onChange: (text: string) => void;
}

export function TextFilter({ label, placeholder, text = '', hint, onChange }: Props) {
  const [written, setWritten] = useState(text);
  const asked = useRef(text);
  const search = useDebouncedCallback((value: string) => {
    asked.current = value;
    onChange(value);
  }, 300);
  useEffect(() => {
    // Another part of the page changed it. What is being written stays.
    if (text !== asked.current) {
      asked.current = text;
      setWritten(text);
    }
  }, [text]);
  const isRefused = (value: string) => hint !== undefined && value !== '' && !hint.pattern.test(value);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      maxLength={200}
      value={written}
      error={isRefused(written.trim()) ? hint?.text : null}
      onChange={({ currentTarget: { value } }) => {
        setWritten(value);
        if (!isRefused(value.trim())) {
          search(value.trim());
        }
      }}
      style={{ flex: '1 1 6.5rem', minWidth: 0 }}
    />
  );
}
