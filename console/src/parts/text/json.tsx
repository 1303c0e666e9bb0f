/** A value as JSON, as it travels through the API. */
import { Code } from '@mantine/core';

export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard.
    <section aria-label={label} tabIndex={0} className="json">
      <Code block>{JSON.stringify(value, null, 2)}</Code>
    </section>
  );
}
