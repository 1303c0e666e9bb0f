/** The last requests that failed because of the server. */
import { Table, Text, Title } from '@mantine/core';
import { shorten } from '../../parts/text/format.ts';
import { RequestLink } from '../../parts/text/request-link.tsx';
import { Time } from '../../parts/text/time.tsx';
import type { Status } from './status.ts';

export function Faults({ faults }: Pick<Status, 'faults'>) {
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        Failed requests
      </Title>
      {faults.length === 0 ? (
        <Text size="sm" c="dimmed">
          None since this instance started. The last 20 requests that failed because of the server appear
          here, with the request id by which the log names them.
        </Text>
      ) : (
        <Table aria-label="Failed requests">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              <Table.Th>Operation</Table.Th>
              <Table.Th>Message</Table.Th>
              <Table.Th>Request id</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {faults.map(({ at, requestId, operationId, message }) => (
              <Table.Tr key={requestId}>
                <Table.Td>
                  <Time at={at} isExact />
                </Table.Td>
                <Table.Td>{operationId ?? 'a page'}</Table.Td>
                <Table.Td>{message}</Table.Td>
                <Table.Td>
                  <RequestLink id={requestId}>{shorten(requestId)}</RequestLink>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
