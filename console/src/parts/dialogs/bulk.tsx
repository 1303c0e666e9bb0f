/** One action on many objects: eight requests at once, with progress, and a summary of what failed. */
import { Alert, Button, Group, List, Progress, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { onRefused, toMessage } from '../../session/session.ts';
import { Dialog } from './dialog.tsx';

const atOnce = 8;

interface Props<Item> {
  /** "Ship 50 orders". */
  readonly title: string;
  readonly items: readonly Item[];
  readonly nameOf: (item: Item) => string;
  readonly run: (item: Item) => Promise<unknown>;
  /** What usually follows, as links beside the button that closes. */
  readonly next?: ReactNode;
  readonly onClose: () => void;
}

/** Enter closes as soon as all is done. A function of the module is called once, when the button appears. */
const focusOnce = (button: HTMLButtonElement | null) => button?.focus();

interface Failure {
  readonly name: string;
  readonly reason: string;
}

export function Bulk<Item>({ title, items, nameOf, run, next, onClose }: Props<Item>) {
  const [done, setDone] = useState(0);
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const isStarted = useRef(false);

  useEffect(() => {
    if (isStarted.current) {
      return;
    }
    isStarted.current = true;
    const waiting = [...items];
    const work = async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        const name = nameOf(item);
        try {
          await run(item);
        } catch (error) {
          onRefused(error);
          setFailures((known) => [...known, { name, reason: toMessage(error) }]);
        }
        setDone((count) => count + 1);
      }
    };
    for (let worker = 0; worker < atOnce; worker += 1) {
      void work();
    }
  }, [items, nameOf, run]);

  const isOver = done === items.length;
  return (
    <Dialog onClose={isOver ? onClose : () => {}} withCloseButton={isOver} title={title}>
      <Stack gap="sm">
        <Progress value={(done / Math.max(1, items.length)) * 100} aria-label={title} />
        <Text size="sm" role="status">
          {isOver
            ? `${items.length - failures.length} of ${items.length} done.`
            : `${done} of ${items.length}`}
        </Text>
        {failures.length === 0 ? null : (
          <Alert color="red" title={`${failures.length} failed`}>
            <List size="sm">
              {failures.map(({ name, reason }) => (
                <List.Item key={name}>
                  {name}: {reason}
                </List.Item>
              ))}
            </List>
          </Alert>
        )}
        {isOver ? (
          <Group justify="flex-end" gap="xs">
            {next}
            <Button ref={focusOnce} onClick={onClose}>
              Close
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Dialog>
  );
}
