/** Cells of the table of cheeses that show an image or can be changed. */
import { ImageIcon } from '@radix-ui/react-icons';
import { useEffect, useRef, useState } from 'react';
import { type Cheese, thumbnailOf } from '../../../../../client/src/index.ts';
import { priceRules, readNumber, writePrice } from '../../../parts/fields/number.ts';
import { NumberField } from '../../../parts/fields/number-field.tsx';
import { showMoney } from '../../../parts/text/format.ts';
import { isUploaded, toImagePath } from '../queries.ts';
import { type CheeseStatus, statuses } from './filters.ts';

const thumbnailSize = 36;

/** The thumbnail of the primary image, read when the row comes into view. */
export function Thumbnail({ cheese }: { readonly cheese: Cheese }) {
  const [url = ''] = cheese.photoUrls;
  return (
    <div className="thumbnail">
      {isUploaded(url) ? (
        <img
          src={toImagePath(thumbnailOf(url))}
          // The name of the cheese is beside it.
          alt=""
          loading="lazy"
          width={thumbnailSize}
          height={thumbnailSize}
        />
      ) : (
        <ImageIcon aria-hidden="true" opacity={0.4} />
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
  const [edit, setEdit] = useState<{ readonly seen: Cheese; readonly text: string } | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isFocusDue, setFocusDue] = useState(false);

  useEffect(() => {
    if (isFocusDue && edit === null) {
      setFocusDue(false);
      button.current?.focus();
    }
  }, [isFocusDue, edit]);

  /** The field stays open while its text is not a price. */
  function save(): boolean {
    const read = readNumber(edit?.text ?? '', priceRules);
    if (edit === null || read.problem !== null) {
      return false;
    }
    setEdit(null);
    if (read.value !== (edit.seen.pricePerKg ?? null)) {
      onChange(edit.seen, read.value);
    }
    return true;
  }

  if (edit === null) {
    const price = cheese.pricePerKg === undefined ? null : showMoney(cheese.pricePerKg);
    return (
      <button
        ref={button}
        type="button"
        className="editable"
        aria-label={`Price of ${cheese.name}: ${price ?? 'no price'}`}
        onClick={() => setEdit({ seen: cheese, text: writePrice(cheese.pricePerKg) })}
      >
        {price ?? <span className="dimmed">no price</span>}
      </button>
    );
  }
  return (
    <NumberField
      size="xs"
      className="price-field"
      autoFocus
      aria-label={`Price of ${cheese.name}`}
      rules={priceRules}
      styles={{ input: { textAlign: 'right' } }}
      value={edit.text}
      onFocus={({ currentTarget }) => currentTarget.select()}
      onChange={(text) => setEdit({ ...edit, text })}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          setEdit(null);
          setFocusDue(true);
        } else if (event.key === 'Enter') {
          // The button that gets the focus is not pressed by the same key.
          event.preventDefault();
          setFocusDue(save());
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
