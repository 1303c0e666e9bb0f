/** What a screen is to the navigation. */
import type { ComponentType } from 'react';

export interface ScreenProps {
  /** The part of the URL after the screen: the object that is open. */
  readonly id: string | undefined;
}

export interface Screen {
  readonly path: string;
  readonly title: string;
  /** The key after `g` that opens it. */
  readonly key: string;
  readonly icon: ComponentType;
  readonly component: ComponentType<ScreenProps>;
  /** Whether staff without the scope admin see it. */
  readonly isForStaff: boolean;
  /** What is shown beside the title in the navigation. */
  readonly badge?: ComponentType;
}
