/** What happened to a cheese or its stock, from the event log, the newest first. */
import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { CurdEvent } from '../../../../client/src/index.ts';
import { isCurdError } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { Read } from '../../parts/page.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { showKilograms } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { readNewest } from '../events/newest.ts';
import { nameOfField, showField } from './fields.ts';

const readMax = 200;
const shownFirst = 8;

interface Props {
  /** `cheese:12` */
  readonly subject: string;
  /** The beginning of the key under which the data is stale after such an event. */
  readonly queryKey: string;
}

/** The newest events of a subject. */
export function useHistory({ subject, queryKey }: Props) {
  return useApi([queryKey, 'history', subject], (curd, signal) =>
    readNewest(curd, { types: [], subject }, readMax, signal),
  );
}

export function History({ subject, queryKey }: Props) {
  const [isAll, setAll] = useState(false);
  const events = useHistory({ subject, queryKey });
  if (isCurdError(events.error) && events.error.status === 403) {
    return null;
  }
  return (
    <section aria-label="History">
      <Title order={2} size="h5" mb="xs">
        History
      </Title>
      <Read of={events} what="the history">
        {({ events: all, hasMore }) =>
          all.length === 0 ? (
            <Text size="sm" c="dimmed">
              The log has no event of it.
            </Text>
          ) : (
            <>
              <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
                {all.slice(0, isAll ? readMax : shownFirst).map((event) => (
                  <Line key={event.id} event={event} />
                ))}
              </Stack>
              {!isAll && all.length > shownFirst ? (
                <Button size="compact-sm" variant="subtle" mt="xs" onClick={() => setAll(true)}>
                  Show all {all.length}
                </Button>
              ) : hasMore ? (
                <Anchor
                  component={Link}
                  size="sm"
                  href={`/events?${new URLSearchParams({ subject, since: '1970-01-01T00:00:00Z' })}`}
                >
                  Older events
                </Anchor>
              ) : null}
            </>
          )
        }
      </Read>
    </section>
  );
}

function Line({ event }: { readonly event: CurdEvent }) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="start">
      <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }} className="figure">
        <Time at={event.timestamp} />
      </Text>
      <Text size="sm" style={{ flex: 1, overflowWrap: 'anywhere' }}>
        {describe(event)}{' '}
        <Text span size="sm" c="dimmed">
          <Actor actor={event.actor} />
        </Text>
      </Text>
    </Group>
  );
}

const reasons: Readonly<Record<string, string>> = {
  sold_elsewhere: 'sold elsewhere',
  tracking_started: 'tracking began',
  tracking_ended: 'tracking ended',
};

/** "price €37.00 to €38.50" */
function describe(event: CurdEvent): string {
  switch (event.type) {
    case 'cheese.updated':
      return Object.entries(event.data.changes)
        .map(
          ([field, { from, to }]) =>
            `${nameOfField(field)} ${showField(from, field)} to ${showField(to, field)}`,
        )
        .join(', ');
    case 'cheese.created':
      return 'created';
    case 'cheese.deleted':
      return 'deleted';
    case 'cheese.image_uploaded':
      return 'image uploaded';
    case 'stock.adjusted': {
      const { deltaKg, reason, onHand, available } = event.data;
      const delta = `${deltaKg > 0 ? '+' : ''}${showKilograms(deltaKg)}`;
      return `${reasons[reason] ?? reason}: ${delta}, ${showKilograms(onHand)} on hand, ${showKilograms(available)} available`;
    }
    case 'stock.low':
      return `low: ${showKilograms(event.data.available)} available`;
    case 'stock.depleted':
      return `depleted: ${showKilograms(event.data.available)} available`;
    default:
      return event.type;
  }
}
