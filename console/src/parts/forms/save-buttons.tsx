/** The buttons of a form that is a whole screen, and Ctrl S. The browser asks before it closes a page with changes. */
import { Button, Kbd } from '@mantine/core';
import { useSaveKey, useUnsavedWarning } from './use-save-key.ts';

interface Props {
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly onSave: () => unknown;
  readonly onDiscard: () => void;
  readonly action?: string;
  readonly isDisabled?: boolean;
}

export function SaveButtons({
  isChanged,
  isSaving,
  onSave,
  onDiscard,
  action = 'Save',
  isDisabled = !isChanged,
}: Props) {
  useSaveKey(() => void onSave());
  useUnsavedWarning(isChanged && !isSaving);
  return (
    <>
      {isChanged ? (
        <Button size="xs" variant="default" onClick={onDiscard}>
          Discard
        </Button>
      ) : null}
      <Button
        size="xs"
        loading={isSaving}
        disabled={isDisabled}
        rightSection={
          <Kbd size="xs" visibleFrom="sm">
            Ctrl S
          </Kbd>
        }
        onClick={() => void onSave()}
      >
        {action}
      </Button>
    </>
  );
}
