/** What a new operator does first. Steps are ticked by what happened in the shop, and the list can be dismissed. */
import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { CheckCircledIcon, CircleIcon } from '@radix-ui/react-icons';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Curd } from '../../../../client/src/index.ts';
import { shopEnvironment } from '../../environment.ts';
import { firstSteps } from '../../live.ts';
import { queryClient, useApi } from '../../queries.ts';
import { useStatus } from '../../status.ts';
import { positionBefore } from './event-position.ts';

const storageKey = 'curd.console.checklist';
type Mark = 'dismissed' | 'backup' | 'order';

/** What was dismissed, and the steps that are ticked by hand. */
function useMarks() {
  const [marks, setMarks] = useState<readonly string[]>(() =>
    (localStorage.getItem(storageKey) ?? '').split(' '),
  );
  function mark(name: Mark): void {
    const next = [...marks.filter((one) => one !== '' && one !== name), name];
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
      // The demo shop is created by the system, but its key is the operator's.
      if (items.some(({ actor }) => actor !== 'system' || type === 'api_key.created')) {
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
  /** Ticks a step that the shop cannot know of. */
  readonly onTick?: () => void;
}

export function Checklist() {
  const { has, mark } = useMarks();
  const isDismissed = has('dismissed');
  return isDismissed ? null : <Steps has={has} mark={mark} />;
}

const link = (href: string, text: string) => (
  <Anchor component={Link} href={href} size="sm">
    {text}
  </Anchor>
);

const orderCommand = `curl -X POST ${window.location.origin}/v2/store/order -H "X-API-Key: $KEY" -H "Content-Type: application/json"${
  shopEnvironment === 'production' ? ' -H "Dry-Run: true"' : ''
} -d '{"items":[{"cheeseId":1,"quantity":1}],"shippingAddress":{"street":"Gasse 1","city":"Bern","state":"BE","zipCode":"3011","country":"CH"}}'`;

function Steps({ has, mark }: ReturnType<typeof useMarks>) {
  const { data: done } = useApi(queryKey, readDone);
  const { data: status } = useStatus();
  if (done === undefined) {
    return null;
  }
  const [key = false, cheese = false, image = false, order = false] = firstSteps.map((type) =>
    done.includes(type),
  );
  const isOnPostgres = status?.engine === 'postgres';
  const steps: readonly Step[] = [
    { title: 'Create an API key', isDone: key, how: link('/access', 'Access') },
    { title: 'Add a cheese', isDone: cheese, how: link('/cheeses/new', 'New cheese') },
    { title: 'Upload an image', isDone: image, how: link('/cheeses', 'Open a cheese') },
    {
      title: shopEnvironment === 'production' ? 'Try an order as a dry run' : 'Place a test order',
      isDone: order || has('order'),
      how: (
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {orderCommand}
        </Code>
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
        <Code block>npx curd backup shop.tar</Code>
      ),
      ...(isOnPostgres ? { onTick: () => mark('backup') } : {}),
    },
  ];
  const open = steps.filter(({ isDone }) => !isDone).length;
  if (open === 0) {
    return null;
  }
  return (
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
        {steps.map(({ title, isDone, how, onTick }) => (
          <div key={title}>
            <Group gap="xs">
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
            {isDone ? null : <div style={{ marginLeft: 25, marginTop: 4, overflow: 'hidden' }}>{how}</div>}
          </div>
        ))}
      </Stack>
    </section>
  );
}
