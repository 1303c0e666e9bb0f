/** A dialog with a form: its button, its progress and its error. Fields show their own messages. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { onRefused, toMessage } from '../../session/session.ts';
import { fieldErrors } from '../action.ts';
import { Dialog } from './dialog.tsx';

interface Props {
  readonly title: string;
  /** The verb on the button: "Create". */
  readonly action: string;
  /** Closes the dialog by itself if it succeeds. */
  readonly onSubmit: () => Promise<unknown>;
  readonly onClose: () => void;
  /** Shows messages beside the fields; without it, or for a message without a field here, they are listed. */
  readonly onErrors?: (errors: Record<string, string>) => void;
  readonly isDisabled?: boolean;
  readonly size?: 'md' | 'lg';
  readonly children: ReactNode;
}

export function FormDialog({
  title,
  action,
  onSubmit,
  onClose,
  onErrors,
  isDisabled,
  size = 'md',
  children,
}: Props) {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setRunning(true);
    setFailure(null);
    try {
      await onSubmit();
    } catch (error) {
      onRefused(error);
      const errors = fieldErrors(error);
      if (errors !== null && onErrors !== undefined) {
        onErrors(errors);
      }
      setFailure(toMessage(error));
    } finally {
      setRunning(false);
    }
  }

  return (
    <Dialog onClose={onClose} title={title} size={size}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="sm">
          {children}
          {failure === null ? null : (
            <Alert color="red" role="alert">
              {failure}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isRunning} disabled={isDisabled ?? false}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
