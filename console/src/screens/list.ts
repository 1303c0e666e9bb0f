/** The screens, in the order of the navigation. Their code is loaded when they are first opened. */
import {
  ActivityLogIcon,
  ArchiveIcon,
  BellIcon,
  ClipboardIcon,
  CubeIcon,
  DashboardIcon,
  GearIcon,
  HomeIcon,
  LightningBoltIcon,
  LockClosedIcon,
  PersonIcon,
  UploadIcon,
} from '@radix-ui/react-icons';
import { type ComponentType, createElement, useEffect, useState } from 'react';
import { Loading } from '../parts/page.tsx';
import { PendingBadge } from './approvals/pending-badge.tsx';

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

type Module = { readonly default: ComponentType<ScreenProps> };

/** A page of an earlier version finds the code of a screen no more: then it is loaded again, once, at the same URL. */
async function loadOnce(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const page = await fetch(window.location.href, { method: 'HEAD' });
    if (page.ok && navigation?.type !== 'reload') {
      window.location.reload();
      return await new Promise<never>(() => {});
    }
    throw error;
  }
}

/**
 * A screen whose code is loaded when it is opened. Without `lazy`, because React shows the fallback of a Suspense for at
 * least 300 ms.
 */
function screen(load: () => Promise<Module>): ComponentType<ScreenProps> {
  let loaded: ComponentType<ScreenProps> | undefined;
  return function LoadedScreen(props) {
    const [failure, setFailure] = useState<{ readonly error: unknown } | null>(null);
    const [, setLoaded] = useState(loaded !== undefined);
    useEffect(() => {
      if (loaded === undefined) {
        loadOnce(load).then(
          (module) => {
            loaded = module.default;
            setLoaded(true);
          },
          (error: unknown) => setFailure({ error }),
        );
      }
    }, []);
    if (failure !== null) {
      throw failure.error;
    }
    return loaded === undefined
      ? createElement(Loading, { what: 'the screen' })
      : createElement(loaded, props);
  };
}

export const screens: readonly Screen[] = [
  {
    path: '',
    title: 'Home',
    key: 'h',
    icon: HomeIcon,
    component: screen(() => import('./home/home.tsx')),
    isForStaff: false,
  },
  {
    path: 'orders',
    title: 'Orders',
    key: 'o',
    icon: ClipboardIcon,
    component: screen(() => import('./orders/orders.tsx')),
    isForStaff: false,
  },
  {
    path: 'cheeses',
    title: 'Cheeses',
    key: 'c',
    icon: CubeIcon,
    component: screen(() => import('./cheeses/cheeses.tsx')),
    isForStaff: true,
  },
  {
    path: 'stock',
    title: 'Stock',
    key: 's',
    icon: ArchiveIcon,
    component: screen(() => import('./stock/stock.tsx')),
    isForStaff: true,
  },
  {
    path: 'import',
    title: 'Import',
    key: 'i',
    icon: UploadIcon,
    component: screen(() => import('./import/import.tsx')),
    isForStaff: true,
  },
  {
    path: 'customers',
    title: 'Customers',
    key: 'u',
    icon: PersonIcon,
    component: screen(() => import('./customers/customers.tsx')),
    isForStaff: false,
  },
  {
    path: 'approvals',
    title: 'Approvals',
    key: 'p',
    icon: BellIcon,
    component: screen(() => import('./approvals/approvals.tsx')),
    isForStaff: false,
    badge: PendingBadge,
  },
  {
    path: 'access',
    title: 'Access',
    key: 'k',
    icon: LockClosedIcon,
    component: screen(() => import('./access/access.tsx')),
    isForStaff: false,
  },
  {
    path: 'webhooks',
    title: 'Webhooks',
    key: 'w',
    icon: LightningBoltIcon,
    component: screen(() => import('./webhooks/webhooks.tsx')),
    isForStaff: false,
  },
  {
    path: 'events',
    title: 'Events',
    key: 'e',
    icon: ActivityLogIcon,
    component: screen(() => import('./events/events.tsx')),
    isForStaff: false,
  },
  {
    path: 'limits',
    title: 'Limits',
    key: 'l',
    icon: DashboardIcon,
    component: screen(() => import('./limits/limits.tsx')),
    isForStaff: false,
  },
  {
    path: 'operations',
    title: 'Operations',
    key: 'x',
    icon: GearIcon,
    component: screen(() => import('./operations/operations.tsx')),
    isForStaff: false,
  },
];
