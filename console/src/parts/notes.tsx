/** Notes of operators about an order or a customer, whom they are never shown to. */
import { ActionIcon, Button, Group, Stack, Text, Textarea, Title } from '@mantine/core';
import { Cross2Icon } from '@radix-ui/react-icons';
import { type FormEvent, useEffect, useState } from 'react';
import type { Curd, Result } from '../../../client/src/index.ts';
import { useApi, useCurd } from '../data/queries.ts';
import { keepDraft, readDraft } from '../session/drafts.ts';
import { useAction } from './action.ts';
import { Read } from './page.tsx';
import { Actor } from './text/actor.tsx';
import { Time } from './text/time.tsx';

type Note = Result<'createOrderNote'>;

/** How notes about one subject are read and written. */
export interface NotesOf {
  /** The first part of the key of the subject: "order 31". */
  readonly key: string;
  readonly list: (curd: Curd) => PromiseLike<{ readonly items: readonly Note[]; readonly hasMore: boolean }>;
  readonly create: (curd: Curd, text: string) => PromiseLike<unknown>;
}

export function Notes({ of }: { readonly of: NotesOf }) {
  const curd = useCurd();
  const notes = useApi([of.key, 'notes'], of.list);
  const { run, isRunning } = useAction();
  const draftKey = `note of ${of.key}`;
  const [text, setText] = useState(() => readDraft<string>(draftKey) ?? '');
  useEffect(() => keepDraft(draftKey, text.trim() === '' ? null : text), [draftKey, text]);

  async function add(): Promise<void> {
    if (text.trim() !== '' && (await run(null, () => of.create(curd, text.trim()), of.key))) {
      // The page may have been left since.
      keepDraft(draftKey, null);
      setText('');
    }
  }

  return (
    <section className="card" aria-labelledby="notes">
      <Title order={2} size="h5" id="notes" mb="xs">
        Staff notes
      </Title>
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void add();
        }}
      >
        <Group align="end" gap="xs" mb="xs">
          <Textarea
            flex="1"
            aria-label="New note"
            placeholder="Customers never see notes. Ctrl Enter adds one."
            autosize
            minRows={1}
            maxLength={2000}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={({ key, ctrlKey, metaKey }) => {
              if (key === 'Enter' && (ctrlKey || metaKey)) {
                void add();
              }
            }}
          />
          <Button type="submit" size="sm" variant="default" loading={isRunning} disabled={text.trim() === ''}>
            Add
          </Button>
        </Group>
      </form>
      <Read of={notes}>
        {({ items, hasMore }) => (
          <>
            <Stack gap="xs">
              {items.map(({ id, text: written, author, createdAt }) => (
                <Group key={id} justify="space-between" align="start" wrap="nowrap" gap="xs">
                  <div>
                    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                      {written}
                    </Text>
                    <Text size="xs" c="dimmed">
                      <Time at={createdAt} /> by <Actor actor={author} />
                    </Text>
                  </div>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="sm"
                    aria-label={`Delete the note ${written.slice(0, 40)}`}
                    onClick={() => void run(null, () => curd.orders.deleteNote(id), of.key)}
                  >
                    <Cross2Icon aria-hidden="true" />
                  </ActionIcon>
                </Group>
              ))}
            </Stack>
            {hasMore ? (
              <Text size="xs" c="dimmed">
                These are the newest notes.
              </Text>
            ) : null}
          </>
        )}
      </Read>
    </section>
  );
}
