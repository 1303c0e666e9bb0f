/** Filters of mails. They are in the URL. */
import { Group } from '@mantine/core';
import { TabsFilter } from '../../parts/fields/tabs-filter.tsx';
import { TextFilter } from '../../parts/fields/text-filter.tsx';
import { asId, asOneOf, type Changes, type Filters } from '../../parts/url-filters.ts';
import { nameOfState, states } from './state.tsx';

export const filterReaders = { state: asOneOf(states), customer: asId, order: asId };

const hint = { pattern: /^[1-9]\d{0,14}$/, text: 'A number, such as 31' };

interface Props {
  readonly filters: Filters<typeof filterReaders>;
  readonly onChange: (changes: Changes<typeof filterReaders>) => void;
}

export function MailFilters({ filters, onChange }: Props) {
  return (
    <Group align="end" mb="sm" gap="sm" wrap="wrap">
      <TabsFilter
        label="State"
        values={states}
        nameOf={nameOfState}
        value={filters.state}
        onChange={(state) => onChange({ state })}
      />
      <TextFilter
        label="Customer id"
        placeholder="5"
        text={filters.customer}
        hint={hint}
        onChange={(customer) => onChange({ customer })}
      />
      <TextFilter
        label="Order id"
        placeholder="31"
        text={filters.order}
        hint={hint}
        onChange={(order) => onChange({ order })}
      />
    </Group>
  );
}
