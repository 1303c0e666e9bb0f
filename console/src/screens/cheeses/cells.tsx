/** Cells of the table of cheeses that show an image or can be changed. */
import { NumberInput } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { ImageIcon } from '@radix-ui/react-icons';
import { useState } from 'react';
import type { Cheese } from '../../../../client/src/index.ts';
import { showMoney } from '../../parts/format.ts';
import { type CheeseStatus, statuses } from './filters.ts';
import { isUploaded, sourceOf, useImages } from './queries.ts';

const thumbnailSize = 36;

/** The thumbnail of the primary image, read when the row comes into view. */
export function Thumbnail({ cheese }: { readonly cheese: Cheese }) {
  const [url = ''] = cheese.photoUrls;
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const { data: images = [] } = useImages(cheese.id, inViewport && isUploaded(url));
  const image = images.find(({ imageUrl }) => imageUrl === url);
  return (
    <div ref={ref} className="thumbnail">
      {image === undefined ? (
        <ImageIcon aria-hidden="true" opacity={0.4} />
      ) : (
        <img
          src={sourceOf(image.thumbnailUrl)}
          alt={image.caption ?? ''}
          width={thumbnailSize}
          height={thumbnailSize}
        />
      )}
    </div>
  );
}

interface PriceProps {
  readonly cheese: Cheese;
  /** Called with the cheese as it was when the edit began. */
  readonly onChange: (seen: Cheese, price: number | null) => void;
}

export function PriceCell({ cheese, onChange }: PriceProps) {
  const [edit, setEdit] = useState<{ readonly seen: Cheese; readonly text: string | number } | null>(null);

  function save(): void {
    if (edit !== null) {
      setEdit(null);
      const price = edit.text === '' ? null : Number(edit.text);
      if (price !== (edit.seen.pricePerKg ?? null)) {
        onChange(edit.seen, price);
      }
    }
  }

  if (edit === null) {
    const price = cheese.pricePerKg === undefined ? null : showMoney(cheese.pricePerKg);
    return (
      <button
        type="button"
        className="editable"
        aria-label={`Price of ${cheese.name}: ${price ?? 'no price'}`}
        onClick={() => setEdit({ seen: cheese, text: cheese.pricePerKg ?? '' })}
      >
        {price ?? <span className="dimmed">no price</span>}
      </button>
    );
  }
  return (
    <NumberInput
      size="xs"
      w={90}
      autoFocus
      aria-label={`Price of ${cheese.name}`}
      min={0}
      max={1_000_000}
      styles={{ input: { textAlign: 'right' } }}
      value={edit.text}
      onFocus={({ currentTarget }) => currentTarget.select()}
      onChange={(text) => setEdit({ ...edit, text })}
      onBlur={save}
      onKeyDown={({ key }) => {
        if (key === 'Enter') {
          save();
        } else if (key === 'Escape') {
          setEdit(null);
        }
      }}
    />
  );
}

interface StatusProps {
  readonly cheese: Cheese;
  readonly onChange: (status: CheeseStatus) => void;
}

export function StatusCell({ cheese, onChange }: StatusProps) {
  return (
    <select
      className="select"
      aria-label={`Status of ${cheese.name}`}
      value={cheese.status}
      onChange={({ currentTarget }) => onChange(currentTarget.value as CheeseStatus)}
    >
      {statuses.map((status) => (
        <option key={status}>{status}</option>
      ))}
    </select>
  );
}
