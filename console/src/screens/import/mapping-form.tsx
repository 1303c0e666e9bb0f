/** Which columns of the file are which fields of a cheese. */
import { MultiSelect, SimpleGrid, Text, Title } from '@mantine/core';
import { type ImportField, importFields, toFieldTitle } from '../cheeses/fields.ts';
import type { Mapping } from './columns.ts';

interface Props {
  readonly columns: readonly string[];
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

export function MappingForm({ columns, mapping, onChange }: Props) {
  const used = new Set(Object.values(mapping).flat());
  const unused = columns.filter((column) => !used.has(column));

  function set(field: ImportField, chosen: readonly string[]): void {
    const { [field]: _old, ...others } = mapping;
    onChange(chosen.length === 0 ? others : { ...others, [field]: chosen });
  }

  return (
    <section className="card" aria-label="Columns">
      <Title order={2} size="h5" mb={4}>
        Columns
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Of several columns the first with a value counts; tags come from all of them.
        {unused.length === 0 ? '' : ` Not imported: ${unused.join(', ')}.`}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
        {importFields.map((field) => (
          <MultiSelect
            key={field}
            size="xs"
            label={toFieldTitle(field)}
            required={field === 'name'}
            data={[...columns]}
            value={[...(mapping[field] ?? [])]}
            placeholder={mapping[field] === undefined ? 'No column' : ''}
            onChange={(chosen) => set(field, chosen)}
          />
        ))}
      </SimpleGrid>
    </section>
  );
}
