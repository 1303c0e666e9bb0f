/**
 * Asks before a change that is hard to take back, and shows what it would do: a dry run lists the effects. Deletions ask
 * for the name.
 */
import { Alert, Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../session.ts';

/** An entry of the response to a dry run. */
export interface Effect {
  readonly type: string;
  readonly subject?: string;
  readonly count?: number;
}

interface Props {
  readonly title: string;
  /** The verb on the button: "Delete". */
  readonly action: string;
  /** Reads the effects by a dry run; absent for operations without one. */
  readonly readEffects?:
    | (() => Promise<{ readonly effects: readonly Effect[]; readonly more: number }>)
    | undefined;
  /** What must be typed. */
  readonly typed?: string | undefined;
  readonly text?: string | undefined;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

const verbs: Readonly<Record<string, string>> = {
  created: 'creates',
  updated: 'changes',
  deleted: 'deletes',
  cancelled: 'cancels',
  detached: 'detaches',
  ended: 'ends',
  unreferenced: 'no longer shows',
};

/** "cancels order 31", "ends 2 sessions". */
export function describeEffect({ type, subject, count }: Effect): string {
  const [kind = '', change = ''] = type.split('.');
  const verb = verbs[change] ?? `${change}:`;
  return subject === undefined
    ? `${verb} ${count ?? ''} ${kind.replaceAll('_', ' ')}`
    : `${verb} ${subject.replace(':', ' ').replaceAll('_', ' ')}`;
}

export function Confirm(props: Props) {
  const { title, action, readEffects, typed, text, onConfirm, onClose } = props;
  const [written, setWritten] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const effects = useQuery({
    queryKey: ['effects', title],
    queryFn: () => readEffects?.() ?? { effects: [], more: 0 },
    staleTime: 0,
    gcTime: 0,
  });

  async function run(): Promise<void> {
    setRunning(true);
    setFailure(null);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailure(messageOf(error));
      setRunning(false);
    }
  }

  const isRefused = effects.isError;
  return (
    <Modal opened onClose={onClose} title={title}>
      <Stack gap="sm">
        {text === undefined ? null : <Text size="sm">{text}</Text>}
        {isRefused ? <Alert color="red">{messageOf(effects.error)}</Alert> : null}
        {effects.data !== undefined && effects.data.effects.length > 0 ? (
          <div>
            <Text size="sm" fw={600}>
              This also
            </Text>
            <List size="sm">
              {effects.data.effects.map((effect) => (
                <List.Item key={`${effect.type} ${effect.subject ?? ''}`}>{describeEffect(effect)}</List.Item>
              ))}
            </List>
            {effects.data.more > 0 ? <Text size="sm">and {effects.data.more} more</Text> : null}
          </div>
        ) : null}
        {typed === undefined || isRefused ? null : (
          <TextInput
            data-autofocus
            label={`Type ${typed} to confirm`}
            value={written}
            onChange={({ currentTarget }) => setWritten(currentTarget.value)}
          />
        )}
        {failure === null ? null : <Alert color="red">{failure}</Alert>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          {isRefused ? null : (
            <Button
              color="red"
              loading={isRunning || effects.isPending}
              disabled={typed !== undefined && written !== typed}
              onClick={() => void run()}
            >
              {action}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
