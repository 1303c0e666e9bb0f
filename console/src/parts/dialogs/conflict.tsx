/** Another person changed the same fields: both versions side by side, and for each field the choice between them. */
import { Button, Group, Radio, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from './dialog.tsx';

type Fields = Readonly<Record<string, unknown>>;

interface Props {
  readonly title: string;
  /** What the person wrote, in the fields that the other person changed too. */
  readonly mine: Fields;
  /** What the server has now. */
  readonly theirs: Fields;
  /** The name of a field on the screen. */
  readonly nameOf?: (field: string) => string;
  readonly show?: (value: unknown, field: string) => string;
  /** Called with the fields of `mine` that are kept; with none, all are theirs. */
  readonly onResolve: (kept: readonly string[]) => void;
  /** Closes the dialog and decides nothing. */
  readonly onClose: () => void;
}

function showValue(value: unknown): string {
  return value === undefined || value === null || value === ''
    ? '-'
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}

export function Conflict(props: Props) {
  const { title, mine, theirs, nameOf = String, show = showValue, onResolve, onClose } = props;
  const fields = Object.keys(mine);
  const [kept, setKept] = useState<readonly string[]>(fields);
  const hasChoice = fields.length > 1;

  function choose(field: string, isMine: boolean): void {
    const others = kept.filter((name) => name !== field);
    setKept(isMine ? [...others, field] : others);
  }

  const sides = [
    { label: 'Mine', isMine: true, values: mine },
    { label: 'Theirs', isMine: false, values: theirs },
  ];
  return (
    <Dialog onClose={onClose} title={title} size="lg">
      <Stack>
        <Text size="sm">
          Another person changed this while you did. {hasChoice ? 'Choose a version of each field.' : ''}
        </Text>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              {sides.map(({ label }) => (
                <Table.Th key={label}>{label}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map((field) => (
              <Table.Tr key={field}>
                <Table.Td>{nameOf(field)}</Table.Td>
                {sides.map(({ label, isMine, values }) => {
                  const text = show(values[field], field);
                  return (
                    <Table.Td key={label} style={{ overflowWrap: 'anywhere' }}>
                      {hasChoice ? (
                        <Radio
                          name={`version of ${field}`}
                          label={text}
                          aria-label={`${nameOf(field)}, ${label.toLowerCase()}: ${text}`}
                          checked={kept.includes(field) === isMine}
                          onChange={() => choose(field, isMine)}
                        />
                      ) : (
                        text
                      )}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onResolve([])}>
            Use theirs
          </Button>
          <Button variant={hasChoice ? 'default' : 'filled'} onClick={() => onResolve(fields)}>
            Keep mine
          </Button>
          {hasChoice ? <Button onClick={() => onResolve(kept)}>Save this choice</Button> : null}
        </Group>
      </Stack>
    </Dialog>
  );
}
