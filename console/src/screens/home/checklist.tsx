/** What a new operator does first. Steps are ticked by what happened in the shop, and the list can be dismissed. */
import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { CheckCircledIcon, CircleIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Link } from 'wouter';
import type { Curd } from '../../../../client/src/index.ts';
import { firstSteps } from '../../data/live.ts';
import { queryClient, useApi, useCurd } from '../../data/queries.ts';
import { useStatus } from '../../data/status.ts';
import { shopCommand, shopEnvironment } from '../../environment.ts';
import { positionBefore } from './event-position.ts';
import { isStep } from './first-steps.ts';

const storageKey = 'curd.console.checklist';
type Mark = 'dismissed' | 'backup' | 'order';

/** What was dismissed, and the steps that are ticked by hand. */
function useMarks() {
  const [marks, setMarks] = useState<readonly string[]>(() =>
    (localStorage.getItem(storageKey) ?? '').split(' '),
  );
  function mark(name: Mark): void {
    const next = [...marks.filter((mark) => mark !== '' && mark !== name), name];
    localStorage.setItem(storageKey, next.join(' '));
    setMarks(next);
  }
  return { has: (name: Mark) => marks.includes(name), mark };
}

/** So many events the server examines for a page. */
const examinedMax = 5000;

const queryKey = ['checklist'];

/**
 * The types of events of the steps that are done. Looks at the first and the newest events alone, because a log may have
 * millions, and only for steps that were not done before: each order makes the list stale.
 */
async function readDone(curd: Curd, signal: AbortSignal): Promise<readonly string[]> {
  const known = queryClient.getQueryData<readonly string[]>(queryKey) ?? [];
  const open = firstSteps.filter((type) => !known.includes(type));
  if (open.length === 0) {
    return known;
  }
  const { next } = await curd.events.list({ since: 'latest', limit: 1 }, { signal });
  const recent = positionBefore(next, examinedMax);
  const positions = [undefined, ...(recent === null ? [] : [recent])];

  async function happened(type: string): Promise<boolean> {
    for (const since of positions) {
      const { items } = await curd.events.list({ types: [type], since, limit: 100 }, { signal });
      if (items.some(isStep)) {
        return true;
      }
    }
    return false;
  }
  const results = await Promise.all(open.map(happened));
  return [...known, ...open.filter((_, index) => results[index])];
}

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly how: ReactNode;
  /** Shown when the step is done, too: it decides itself what. */
  readonly isKept?: boolean;
  /** Ticks a step that the shop cannot know of. */
  readonly onTick?: () => void;
}

// A dialog with many widgets, which few need.
const FirstKey = lazy(() => import('../access/first-key.tsx'));

/** The steps; null if none is open, and undefined until the shop has been asked. */
export function useFirstSteps(): ReactNode | undefined {
  const { has, mark } = useMarks();
  const curd = useCurd();
  const isDismissed = has('dismissed');
  const done = useQuery({
    queryKey,
    queryFn: ({ signal }) => readDone(curd, signal),
    enabled: !isDismissed,
  });
  const { data: status, isPending } = useStatus();
  if (isDismissed || done.isError) {
    return null;
  }
  return done.data === undefined || isPending ? undefined : (
    <Steps done={done.data} status={status} has={has} mark={mark} />
  );
}

const link = (href: string, text: string) => (
  <Anchor component={Link} href={href} size="sm">
    {text}
  </Anchor>
);

const orderCommand = (cheeseId: number) =>
  [
    `curl -X POST ${window.location.origin}/v2/store/order`,
    '-H "X-API-Key: $KEY"',
    '-H "Content-Type: application/json"',
    ...(shopEnvironment === 'production' ? ['-H "Dry-Run: true"'] : []),
    `-d '{"items":[{"cheeseId":${cheeseId},"quantity":1}],
    "shippingAddress":{"street":"Gasse 1","city":"Bern","state":"BE","zipCode":"3011","country":"CH"}}'`,
  ].join(' \\\n  ');

interface StepsProps extends ReturnType<typeof useMarks> {
  readonly done: readonly string[];
  readonly status: ReturnType<typeof useStatus>['data'];
}

function Steps({ done, status, has, mark }: StepsProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const [key = false, cheese = false, image = false, order = false] = firstSteps.map((type) =>
    done.includes(type),
  );
  const { data: first } = useApi(['cheeses', 'of first steps'], (curd) =>
    curd.cheeses.list({ status: ['available'], sort: 'createdAt', limit: 1 }),
  );
  const cheeseId = first?.items[0]?.id;
  const isOnPostgres = status?.engine === 'postgres';
  const steps: readonly Step[] = [
    {
      title: 'Create an API key that may place orders',
      isDone: key,
      how: (
        <Suspense>
          <FirstKey isDone={key} secret={secret} onSecret={setSecret} />
        </Suspense>
      ),
      isKept: true,
    },
    { title: 'Add a cheese', isDone: cheese, how: link('/cheeses/new', 'New cheese') },
    { title: 'Upload an image', isDone: image, how: link('/cheeses', 'Open a cheese') },
    {
      title: shopEnvironment === 'production' ? 'Try an order as a dry run' : 'Place a test order',
      isDone: order || has('order'),
      how: (
        <Stack gap={4}>
          {shopEnvironment === 'production' ? null : link('/orders/new', 'New order, here in the console')}
          {cheeseId === undefined ? (
            <Text size="sm">It needs a cheese that is available.</Text>
          ) : (
            <Code block tabIndex={0}>
              {orderCommand(cheeseId)}
            </Code>
          )}
        </Stack>
      ),
      // A dry run leaves no trace.
      ...(shopEnvironment === 'production' ? { onTick: () => mark('order') } : {}),
    },
    {
      title: 'Make a backup',
      isDone: has('backup') || (status != null && status.lastBackupAt !== null),
      how: isOnPostgres ? (
        <Text size="sm">With the tools of PostgreSQL, for example pg_dump.</Text>
      ) : (
        <Code block tabIndex={0}>
          {shopCommand} backup shop.tar
        </Code>
      ),
      ...(isOnPostgres ? { onTick: () => mark('backup') } : {}),
    },
  ];
  const open = steps.filter(({ isDone }) => !isDone).length;
  return open === 0 && secret === null ? null : (
    <section className="card" aria-label="First steps">
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Text fw={600}>
          First steps: {steps.length - open} of {steps.length} done
        </Text>
        <Button size="compact-sm" variant="subtle" onClick={() => mark('dismissed')}>
          Dismiss
        </Button>
      </Group>
      <Stack gap="xs">
        {steps.map(({ title, isDone, how, onTick, isKept }) => (
          <div key={title}>
            <Group gap="xs" wrap="nowrap" className="step">
              {isDone ? (
                <CheckCircledIcon role="img" aria-label="Done:" />
              ) : (
                <CircleIcon role="img" aria-label="Open:" />
              )}
              <Text size="sm" {...(isDone ? { c: 'dimmed' } : { fw: 600 })}>
                {title}
              </Text>
              {isDone || onTick === undefined ? null : (
                <Button size="compact-xs" variant="default" onClick={onTick}>
                  Done
                </Button>
              )}
            </Group>
            {isDone && isKept !== true ? null : (
              <div style={{ marginLeft: 25, marginTop: 4, overflow: 'hidden' }}>{how}</div>
            )}
          </div>
        ))}
      </Stack>
    </section>
  );
}
