/** A text that stands for a longer one, which is shown on hover and copied by a button. */
import { useClipboard } from '@mantine/hooks';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import type { ReactNode } from 'react';
import { shorten } from './format.ts';

interface Props {
  readonly value: string;
  /** Default: the value itself, shortened. */
  readonly children?: ReactNode;
}

export function Copyable({ value, children = shorten(value) }: Props) {
  const { copy, copied } = useClipboard();
  return (
    <span className="copyable" title={value}>
      {children}
      {/* Browsers have no clipboard for pages of plain http. */}
      {navigator.clipboard === undefined ? null : (
        <button
          type="button"
          className="mini-button copy"
          data-quiet
          aria-label={copied ? 'Copied' : `Copy ${value}`}
          onClick={() => copy(value)}
        >
          {copied ? <CheckIcon aria-hidden="true" /> : <CopyIcon aria-hidden="true" />}
        </button>
      )}
    </span>
  );
}
