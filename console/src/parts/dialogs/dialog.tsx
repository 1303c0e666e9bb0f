/** A dialog that is open as long as it is mounted. It returns the focus to what had it before. */
import { Modal, type ModalProps } from '@mantine/core';
import { useIsOnTop } from './open-dialogs.ts';
import { useReturnFocus } from './return-focus.ts';

export function Dialog(props: Omit<ModalProps, 'opened'>) {
  const isOnTop = useIsOnTop();
  useReturnFocus();
  return <Modal opened closeOnEscape={isOnTop} returnFocus={false} {...props} />;
}
