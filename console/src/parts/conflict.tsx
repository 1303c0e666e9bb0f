/** Somebody else changed the same object: both versions side by side, and the choice between them. */
import { Button, Group, Modal, Stack, Table, Text } from '@mantine/core';

type Fields = Readonly<Record<string, unknown>>;

interface Props {
  readonly title: string;
  /** What the person wrote. */
  readonly mine: Fields;
  /** What the server has now. */
  readonly theirs: Fields;
  readonly onKeepMine: () => void;
  readonly onUseTheirs: () => void;
}

function show(value: unknown): string {
  return value === undefined || value === null
    ? '-'
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}

export function Conflict({ title, mine, theirs, onKeepMine, onUseTheirs }: Props) {
  const fields = Object.keys(mine).filter(
    (field) => JSON.stringify(mine[field]) !== JSON.stringify(theirs[field]),
  );
  return (
    <Modal opened onClose={onUseTheirs} title={title} size="lg">
      <Stack>
        <Text size="sm">It was changed since you opened it.</Text>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Mine</Table.Th>
              <Table.Th>Theirs</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map((field) => (
              <Table.Tr key={field}>
                <Table.Td>{field}</Table.Td>
                <Table.Td>{show(mine[field])}</Table.Td>
                <Table.Td>{show(theirs[field])}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Group justify="flex-end">
          <Button variant="default" onClick={onUseTheirs}>
            Use theirs
          </Button>
          <Button onClick={onKeepMine}>Keep mine</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
