/** The search of a screen: `/` moves to it. What is written is searched for after a moment. */
import { TextInput } from '@mantine/core';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useWrittenText } from './use-written-text.ts';

interface Props {
  /** "Search cheeses" */
  readonly label: string;
  /** What the list is searched for. */
  readonly text: string;
  readonly onChange: (text: string) => void;
}

export function SearchField({ label, text, onChange }: Props) {
  const { written, write } = useWrittenText(text, onChange);
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
      onChange={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}
