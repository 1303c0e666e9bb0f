/** Snapshots of the shop: makes, restores and deletes them. */
import { Button, Group, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { Result } from '../../../../client/src/index.ts';
import { queryClient, useCurd, useList } from '../../data/queries.ts';
import { useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { ListTable } from '../../parts/list-screen.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { Section } from './section.tsx';

type Snapshot = Result<'listSnapshots'>['items'][number];

const nameMax = 100;

interface Asked {
  readonly action: 'Restore' | 'Delete';
  readonly snapshot: Snapshot;
}

const columnsOf = (ask: (asked: Asked) => void): readonly Column<Snapshot>[] => [
  { title: 'Name', show: ({ name }) => <span className="row-name">{name}</span> },
  { title: 'Made', show: ({ createdAt }) => <Time at={createdAt} isExact /> },
  { title: 'MB', isNumber: true, show: ({ bytes }) => showNumber(Math.ceil(bytes / 1e5) / 10) },
  {
    title: 'Actions',
    show: (snapshot) => (
      <Group gap={4} justify="flex-end" wrap="nowrap">
        {(['Restore', 'Delete'] as const).map((action) => (
          <Button
            key={action}
            size="compact-sm"
            variant="subtle"
            color={action === 'Delete' ? 'red' : 'rind'}
            aria-label={`${action} ${snapshot.name}`}
            onClick={() => ask({ action, snapshot })}
          >
            {action}
          </Button>
        ))}
      </Group>
    ),
  },
];

export function Snapshots() {
  const curd = useCurd();
  const [asked, setAsked] = useState<Asked | null>(null);
  const list = useList(['snapshots'], (api) => api.snapshots.list());
  return (
    <Section
      title="Snapshots"
      about="Keep the state of the shop, and bring it back between tests, with the same ids. Accounts, keys and applications stay as they are."
    >
      <NewSnapshot />
      <ListTable
        list={list}
        label="Snapshots"
        what="snapshots"
        columns={columnsOf(setAsked)}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        empty={
          <Text size="sm" c="dimmed">
            No snapshots yet. A shop can have ten.
          </Text>
        }
      />
      {asked === null ? null : asked.action === 'Delete' ? (
        <Confirm
          title={`Delete ${asked.snapshot.name}`}
          action="Delete"
          text="The shop does not change."
          onConfirm={async () => {
            await curd.snapshots.delete(asked.snapshot.id);
            await queryClient.invalidateQueries({ queryKey: ['snapshots'] });
          }}
          onClose={() => setAsked(null)}
        />
      ) : (
        <Confirm
          title={`Restore ${asked.snapshot.name}`}
          action="Restore"
          text="What was changed in the shop since then is gone."
          onConfirm={async () => {
            await curd.snapshots.restore(asked.snapshot.id);
            await queryClient.invalidateQueries();
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </Section>
  );
}

function NewSnapshot() {
  const curd = useCurd();
  const { run, isRunning } = useAction();
  const [name, setName] = useState('');
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const isDone = await run(
      'The snapshot is made.',
      () => curd.snapshots.create({ name: name.trim() }),
      'snapshots',
    );
    if (isDone) {
      setName('');
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Group align="end" gap="sm" mb="sm">
        <TextInput
          label="Name"
          placeholder="before the tests"
          maxLength={nameMax}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          style={{ flex: '0 1 20rem' }}
        />
        <Button type="submit" loading={isRunning} disabled={name.trim() === ''}>
          Make a snapshot
        </Button>
      </Group>
    </form>
  );
}
