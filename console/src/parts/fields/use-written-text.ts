import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

const typingMs = 250;

/**
 * The text of a filter while it is written: the list follows when the writing pauses.
 * @param text of the URL
 */
export function useWrittenText(
  text: string,
  onChange: (text: string) => void,
  isRefused: (text: string) => boolean = () => false,
) {
  const [written, setWritten] = useState(text);
  const asked = useRef(text);
  const search = useDebouncedCallback((value: string) => {
    asked.current = value;
    onChange(value);
  }, typingMs);
  useEffect(() => {
    // Another part of the page changed it. What is being written stays.
    if (text !== asked.current) {
      asked.current = text;
      setWritten(text);
    }
  }, [text]);
  function write(value: string): void {
    setWritten(value);
    if (!isRefused(value.trim())) {
      search(value.trim());
    }
  }
  return { written, write };
}
