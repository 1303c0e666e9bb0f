/** The screens, in the order of the navigation. Their code is loaded when they are first opened. */
import {
  ActivityLogIcon,
  ArchiveIcon,
  BarChartIcon,
  BellIcon,
  ClipboardIcon,
  CubeIcon,
  DashboardIcon,
  EnvelopeClosedIcon,
  FileTextIcon,
  GearIcon,
  HomeIcon,
  IdCardIcon,
  LightningBoltIcon,
  LockClosedIcon,
  MagicWandIcon,
  PaperPlaneIcon,
  PersonIcon,
  RowsIcon,
  ScissorsIcon,
  UploadIcon,
} from '@radix-ui/react-icons';
import { type ComponentType, createElement, useEffect, useState } from 'react';
import { shopEnvironment } from '../environment.ts';
import { Loading } from '../parts/page.tsx';
import type { Screen, ScreenProps } from '../parts/screen.ts';
import { PendingBadge } from '../screens/approvals/pending-badge.tsx';

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

/** It tests integrations, and does not exist in production. */
const sandbox: Screen = {
  path: 'sandbox',
  title: 'Sandbox',
  key: 'b',
  icon: MagicWandIcon,
  component: screen(() => import('../screens/sandbox/sandbox.tsx')),
  isForStaff: false,
};

export const screens: readonly Screen[] = [
  {
    path: '',
    title: 'Home',
    key: 'h',
    icon: HomeIcon,
    component: screen(() => import('../screens/home/home.tsx')),
    isForStaff: false,
  },
  {
    path: 'orders',
    title: 'Orders',
    key: 'o',
    icon: ClipboardIcon,
    component: screen(() => import('../screens/orders/orders.tsx')),
    isForStaff: false,
  },
  {
    path: 'sales',
    title: 'Sales',
    key: 'v',
    icon: BarChartIcon,
    component: screen(() => import('../screens/sales/sales.tsx')),
    isForStaff: false,
  },
  {
    path: 'cheeses',
    title: 'Cheeses',
    key: 'c',
    icon: CubeIcon,
    component: screen(() => import('../screens/cheeses/cheeses.tsx')),
    isForStaff: true,
  },
  {
    path: 'stock',
    title: 'Stock',
    key: 's',
    icon: ArchiveIcon,
    component: screen(() => import('../screens/stock/stock.tsx')),
    isForStaff: true,
  },
  {
    path: 'import',
    title: 'Import',
    key: 'i',
    icon: UploadIcon,
    component: screen(() => import('../screens/import/import.tsx')),
    isForStaff: true,
  },
  {
    path: 'customers',
    title: 'Customers',
    key: 'u',
    icon: PersonIcon,
    component: screen(() => import('../screens/customers/customers.tsx')),
    isForStaff: false,
  },
  {
    path: 'approvals',
    title: 'Approvals',
    key: 'p',
    icon: BellIcon,
    component: screen(() => import('../screens/approvals/approvals.tsx')),
    isForStaff: false,
    badge: PendingBadge,
  },
  {
    path: 'access',
    title: 'Access',
    key: 'k',
    icon: LockClosedIcon,
    component: screen(() => import('../screens/access/access.tsx')),
    isForStaff: false,
  },
  {
    path: 'webhooks',
    title: 'Webhooks',
    key: 'w',
    icon: LightningBoltIcon,
    component: screen(() => import('../screens/webhooks/webhooks.tsx')),
    isForStaff: false,
  },
  {
    path: 'mail',
    title: 'Mail',
    key: 'm',
    icon: EnvelopeClosedIcon,
    component: screen(() => import('../screens/mail/mail.tsx')),
    isForStaff: false,
  },
  {
    path: 'events',
    title: 'Events',
    key: 'e',
    icon: ActivityLogIcon,
    component: screen(() => import('../screens/events/events.tsx')),
    isForStaff: false,
  },
  {
    path: 'requests',
    title: 'Requests',
    key: 'r',
    icon: RowsIcon,
    component: screen(() => import('../screens/requests/requests.tsx')),
    isForStaff: false,
  },
  {
    path: 'limits',
    title: 'Limits',
    key: 'l',
    icon: DashboardIcon,
    component: screen(() => import('../screens/limits/limits.tsx')),
    isForStaff: false,
  },
  {
    path: 'shop',
    title: 'Shop',
    key: 'a',
    icon: IdCardIcon,
    component: screen(() => import('../screens/shop/shop.tsx')),
    isForStaff: false,
  },
  {
    path: 'delivery',
    title: 'Delivery',
    key: 'd',
    icon: PaperPlaneIcon,
    component: screen(() => import('../screens/delivery/delivery.tsx')),
    isForStaff: false,
  },
  {
    path: 'taxes',
    title: 'Taxes',
    key: 't',
    icon: FileTextIcon,
    component: screen(() => import('../screens/taxes/taxes.tsx')),
    isForStaff: false,
  },
  {
    path: 'discounts',
    title: 'Discounts',
    key: 'n',
    icon: ScissorsIcon,
    component: screen(() => import('../screens/discounts/discounts.tsx')),
    isForStaff: false,
  },
  {
    path: 'operations',
    title: 'Operations',
    key: 'x',
    icon: GearIcon,
    component: screen(() => import('../screens/operations/operations.tsx')),
    isForStaff: false,
  },
  ...(shopEnvironment === 'production' ? [] : [sandbox]),
];
