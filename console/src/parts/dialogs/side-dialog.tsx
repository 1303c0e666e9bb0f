/** A dialog at the side of the page, open as long as it is mounted. */
import { Drawer, type DrawerProps } from '@mantine/core';
import { useIsOnTop } from './open-dialogs.ts';
import { useReturnFocus } from './return-focus.ts';

export function SideDialog(props: Omit<DrawerProps, 'opened' | 'position'>) {
  const isOnTop = useIsOnTop();
  useReturnFocus();
  return <Drawer opened position="right" closeOnEscape={isOnTop} returnFocus={false} {...props} />;
}
