/** The types of events of an endpoint, as check boxes. */
import { Checkbox, Group, Input, Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { kinds, typesMax } from '../events/event-types.ts';

interface Props {
  /** Null: all that an API key sees. */
  readonly value: readonly string[] | null;
  readonly onChange: (types: readonly string[] | null) => void;
  readonly error?: string | undefined;
}

export function TypeBoxes({ value, onChange, error }: Props) {
  const chosen = new Set(value ?? []);
  const set = (types: readonly string[], isChosen: boolean, without: readonly string[] = []) => {
    const next = new Set(chosen);
    for (const type of [...types, ...without]) {
      next.delete(type);
    }
    onChange([...next, ...(isChosen ? types : [])]);
  };
  return (
    <Stack gap="xs">
      <Radio.Group
        label="Events"
        value={value === null ? 'all' : 'some'}
        onChange={(choice) => onChange(choice === 'all' ? null : [])}
      >
        <Stack gap={4} mt={4}>
          <Radio value="all" label="All of cheeses, stock, orders and customers" />
          <Radio value="some" label="Some types" />
        </Stack>
      </Radio.Group>
      {value === null ? null : (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" pl="lg">
          {kinds.map(({ name, all, types }) => (
            <Stack key={all} gap={4} role="group" aria-label={name}>
              {types.length === 1 ? null : (
                <Checkbox
                  size="sm"
                  label={<Text fw={600}>{all}</Text>}
                  checked={chosen.has(all)}
                  onChange={({ currentTarget }) => set([all], currentTarget.checked, types)}
                />
              )}
              {types.map((type) => (
                <Checkbox
                  key={type}
                  size="sm"
                  ml={types.length === 1 ? 0 : 'md'}
                  label={type}
                  checked={chosen.has(all) || chosen.has(type)}
                  disabled={chosen.has(all)}
                  onChange={({ currentTarget }) => set([type], currentTarget.checked)}
                />
              ))}
            </Stack>
          ))}
        </SimpleGrid>
      )}
      {value !== null && value.length > typesMax ? (
        <Input.Error>{`At most ${typesMax} types. Use the check box of a whole kind.`}</Input.Error>
      ) : null}
      <Group>{error === undefined ? null : <Input.Error>{error}</Input.Error>}</Group>
    </Stack>
  );
}
