/** The search of a screen: `/` moves to it. What is written is searched for after a moment. */
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useEffect, useRef, useState } from 'react';

const typingMs = 250;

interface Props {
  /** "Search cheeses" */
  readonly label: string;
  /** What the list is searched for. */
  readonly text: string;
  readonly onChange: (text: string) => void;
}

export function SearchField({ label, text, onChange }: Props) {
  const [written, setWritten] = useState(text);
  const asked = useRef(text);
  const change = useDebouncedCallback((value: string) => {
    asked.current = value.trim();
    onChange(asked.current);
  }, typingMs);
  useEffect(() => {
    // Another part of the page changed it. What is being written stays.
    if (text !== asked.current) {
      asked.current = text;
      setWritten(text);
    }
  }, [text]);
  return (
    <TextInput
      size="xs"
      w={220}
      flex="0 1 auto"
      maxLength={100}
      data-screen-search
      type="search"
      aria-label={label}
      placeholder={`${label}  /`}
      leftSection={<MagnifyingGlassIcon aria-hidden="true" />}
      value={written}
      onChange={({ currentTarget }) => {
        setWritten(currentTarget.value);
        change(currentTarget.value);
      }}
    />
  );
}
