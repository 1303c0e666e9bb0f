/** Every setting, with its value and where it comes from. The server sends no secret. */
import { Badge, Code, Group, SegmentedControl, Table, Title } from '@mantine/core';
import { useSearchParams } from 'wouter';
import type { Status } from './status.ts';

export function Settings({ settings }: { readonly settings: Status['settings'] }) {
  const [search, setSearch] = useSearchParams();
  const isAll = search.get('settings') !== 'changed';
  const shown = settings.filter(({ origin }) => isAll || origin !== 'default');
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Settings
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Which settings"
          data={['all', 'changed']}
          value={isAll ? 'all' : 'changed'}
          onChange={(value) => setSearch(value === 'all' ? {} : { settings: value })}
        />
      </Group>
      <Table aria-label="Settings" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Variable</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>From</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ variable, value, origin }) => (
            <Table.Tr key={variable}>
              <Table.Td>
                <Code style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}>{variable}</Code>
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value ?? 'not set'}</Table.Td>
              <Table.Td>
                {origin === 'default' ? (
                  'default'
                ) : (
                  <Badge variant="light" color="rind">
                    {origin}
                  </Badge>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
