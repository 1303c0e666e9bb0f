/** Who calls operations that will be removed. */
import { Table, Text, Title } from '@mantine/core';
import { useApi } from '../../data/queries.ts';
import { Actor } from '../../parts/text/actor.tsx';
import { Time } from '../../parts/text/time.tsx';
import { readStatus, statusRefreshMs } from '../operations/status.ts';

export function DeprecatedCallers() {
  const status = useApi(['status'], readStatus, statusRefreshMs);
  const callers = status.data?.deprecated ?? [];
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        Callers of deprecated operations
      </Title>
      {callers.length === 0 ? (
        <Text size="sm" c="dimmed">
          {status.isError
            ? 'The server does not say it now.'
            : 'None since the server started. A caller appears here when it uses an operation that will be removed.'}
        </Text>
      ) : (
        <Table aria-label="Callers of deprecated operations">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Operation</Table.Th>
              <Table.Th>Caller</Table.Th>
              <Table.Th>Last request</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {callers.map(({ operationId, principal, lastAt }) => (
              <Table.Tr key={`${operationId} ${principal}`}>
                <Table.Td>{operationId}</Table.Td>
                <Table.Td>
                  <Actor actor={principal} />
                </Table.Td>
                <Table.Td>
                  <Time at={lastAt} isRelative />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
