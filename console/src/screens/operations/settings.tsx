/** Every setting, with its value and where it comes from. The server sends no secret. */
import { Badge, Code, Group, Table, Title } from '@mantine/core';
import { TabsFilter } from '../../parts/fields/tabs-filter.tsx';
import { asOneOf, useUrlValue } from '../../parts/url-filters.ts';
import type { Status } from './status.ts';

const choices = ['changed'] as const;

export function Settings({ settings }: { readonly settings: Status['settings'] }) {
  const [which, setWhich] = useUrlValue('settings', asOneOf(choices));
  const shown = settings.filter(({ origin }) => which === undefined || origin !== 'default');
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Settings
        </Title>
        <TabsFilter label="Which settings" values={choices} value={which} onChange={setWhich} />
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
