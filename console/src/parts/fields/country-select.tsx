/** A country, found by a part of its name or by its code. */
import { Select, type SelectProps } from '@mantine/core';
import { useState } from 'react';
import { countryOptions } from '../text/countries.ts';

type Props = Pick<SelectProps, 'label' | 'w' | 'error' | 'size'> & {
  readonly value: string | null;
  readonly onChange: (code: string | null) => void;
};

/** Countries whose name contains a text. That of a code comes first. */
function matching(written: string) {
  const text = written.trim().toLowerCase();
  const isCode = ({ value }: { readonly value: string }) => value.toLowerCase() === text;
  return countryOptions()
    .filter((country) => country.label.toLowerCase().includes(text) || isCode(country))
    .sort((one, other) => Number(isCode(other)) - Number(isCode(one)));
}

export function CountrySelect({ value, onChange, ...props }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Select
      size="xs"
      placeholder="Name or code"
      searchable
      clearable
      nothingFoundMessage="No country was found"
      data={[...countryOptions()]}
      filter={({ search }) => matching(search)}
      dropdownOpened={isOpen}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      value={value}
      onChange={onChange}
      onSearchChange={(text) => {
        // The button that clears is for the mouse alone.
        if (text === '' && value !== null) {
          onChange(null);
        }
      }}
      onKeyDown={(event) => {
        const { value: text } = event.currentTarget;
        const list = document.getElementById(event.currentTarget.getAttribute('aria-controls') ?? '');
        const isChosen = list?.querySelector('[data-combobox-selected]') != null;
        const [first] = matching(text);
        // Enter chooses the first one, unless the arrow keys have chosen another.
        if (event.key === 'Enter' && text.trim() !== '' && !isChosen && first !== undefined) {
          event.preventDefault();
          onChange(first.value);
          setOpen(false);
        }
      }}
      {...props}
    />
  );
}
