/**
 * Asks before a change that is hard to take back, and shows what it would do: a dry run lists the effects. Deletions ask
 * for the name.
 */
import { Alert, Button, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { onRefused, toMessage } from '../../session/session.ts';
import { locale, showNumber } from '../text/format.ts';
import { Dialog } from './dialog.tsx';

/** An entry of the response to a dry run. */
interface Effect {
  readonly type: string;
  readonly subject?: string;
  readonly count?: number;
}

/** What a request would change. */
export interface Effects {
  readonly effects: readonly Effect[];
  readonly more: number;
}

interface Props {
  readonly title: string;
  /** The verb on the button: "Delete". */
  readonly action: string;
  /** Reads the effects by a dry run; absent for operations without one, or if `text` says all. */
  readonly readEffects?: (() => Promise<Effects>) | undefined;
  /** True for a change that deletes or ends nothing: its button has the focus. */
  readonly isHarmless?: boolean;
  /** Names of subjects: "Brie" of `cheese:5`. */
  readonly names?: Readonly<Record<string, string>>;
  /** What must be typed. */
  readonly typed?: string | undefined;
  readonly text?: string | undefined;
  /** What the other button says, if "Cancel" could be misread. */
  readonly dismiss?: string | undefined;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

const verbs: Readonly<Record<string, string>> = {
  created: 'creates',
  updated: 'changes',
  adjusted: 'changes',
  deleted: 'deletes',
  revoked: 'revokes',
  cancelled: 'cancels',
  detached: 'removes',
  anonymized: 'removes personal data from',
  ended: 'ends',
  unreferenced: 'no longer shows',
};

const list = new Intl.ListFormat(locale, { type: 'conjunction' });

/** "cancels orders 31 and 40", "ends 2 sessions". */
function describeEffects(effects: readonly Effect[], names: Readonly<Record<string, string>>): string[] {
  const types = [...new Set(effects.map(({ type }) => type))];
  return types.map((type) => {
    const same = effects.filter((effect) => effect.type === type);
    const [kind = '', change = ''] = type.replaceAll('_', ' ').replace('api key', 'API key').split('.');
    const verb = verbs[change] ?? `${change}:`;
    const ids = same.flatMap(({ subject }) =>
      subject === undefined ? [] : [names[subject] ?? subject.split(':')[1] ?? ''],
    );
    if (ids.length > 0) {
      return `${verb} ${ids.length === 1 || kind === 'stock' ? kind : `${kind}s`} ${list.format(ids)}`;
    }
    const count = same.reduce((sum, effect) => sum + (effect.count ?? 0), 0);
    return `${verb} ${showNumber(count)} ${count === 1 ? kind.replace(/s$/, '') : kind}`;
  });
}

export function Confirm(props: Props) {
  const {
    title,
    action,
    readEffects,
    isHarmless = false,
    names = {},
    typed,
    text,
    dismiss = 'Cancel',
  } = props;
  const { onConfirm, onClose } = props;
  const [written, setWritten] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const effects = useQuery({
    queryKey: ['effects', title],
    queryFn: async () => (await readEffects?.()) ?? { effects: [], more: 0 },
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
      onRefused(error);
      setFailure(toMessage(error));
      setRunning(false);
    }
  }

  const isRefused = effects.isError;
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack gap="sm">
        {text === undefined ? null : <Text size="sm">{text}</Text>}
        {isRefused ? <Alert color="red">{toMessage(effects.error)}</Alert> : null}
        {effects.data !== undefined && effects.data.effects.length > 0 ? (
          <div>
            <Text size="sm" fw={600}>
              This
            </Text>
            <List size="sm">
              {describeEffects(effects.data.effects, names).map((effect) => (
                <List.Item key={effect}>{effect}</List.Item>
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
            {dismiss}
          </Button>
          {isRefused ? null : (
            <Button
              color={isHarmless ? 'rind' : 'red'}
              data-autofocus={isHarmless || undefined}
              loading={isRunning || (readEffects !== undefined && effects.isPending)}
              disabled={typed !== undefined && written !== typed}
              onClick={() => void run()}
            >
              {action}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
