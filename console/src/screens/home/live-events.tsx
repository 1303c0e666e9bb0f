/** The last events of the shop, as they happen. */
import { Table, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Curd, CurdEvent } from '../../../../client/src/index.ts';
import { live } from '../../data/live.ts';
import { useApi } from '../../data/queries.ts';
import { Actor } from '../../parts/text/actor.tsx';
import { showClock } from '../../parts/text/format.ts';
import { Subject } from '../../parts/text/subject.tsx';
import { positionBefore } from './event-position.ts';

const shownMax = 12;

/** The end of the log, the oldest first. */
async function readLast(curd: Curd): Promise<readonly CurdEvent[]> {
  const { next } = await curd.events.list({ since: 'latest', limit: 1 });
  const since = positionBefore(next, shownMax) ?? 'earliest';
  return (await curd.events.list({ since, limit: shownMax })).items;
}

/** Events of cheeses have the name; null for others. */
function cheeseNameOf({ type, data }: CurdEvent): string | null {
  const { name } = data as { readonly name?: unknown };
  return type.startsWith('cheese.') && typeof name === 'string' ? name : null;
}

export function LiveEvents() {
  const { data } = useApi(['last events'], readLast);
  const [arrived, setArrived] = useState<readonly CurdEvent[]>([]);
  useEffect(() => live.onEvent((event) => setArrived((before) => [event, ...before].slice(0, shownMax))), []);
  const known = new Set(arrived.map(({ id }) => id));
  const events = [...arrived, ...(data ?? []).filter(({ id }) => !known.has(id)).reverse()].slice(
    0,
    shownMax,
  );
  return (
    <section className="card" aria-label="Live">
      <Text fw={600} mb="xs">
        Live
      </Text>
      {events.length === 0 ? (
        <Text size="sm" c="dimmed">
          Orders, changes of cheeses and new customers appear here.
        </Text>
      ) : (
        <Table verticalSpacing={3} horizontalSpacing={4} withRowBorders={false}>
          <Table.Tbody aria-live="polite" aria-relevant="additions">
            {events.map((event) => {
              return (
                <Table.Tr key={event.id}>
                  <Table.Td className="figure" style={{ whiteSpace: 'nowrap' }} c="dimmed">
                    <time dateTime={event.timestamp} title={event.timestamp}>
                      {showClock(event.timestamp)}
                    </time>
                  </Table.Td>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    <Subject
                      subject={event.subject}
                      isGone={event.type.endsWith('.deleted')}
                      name={cheeseNameOf(event)}
                    />{' '}
                    {event.type.split('.')[1]?.replaceAll('_', ' ')}
                  </Table.Td>
                  <Table.Td c="dimmed" miw="5.5rem" style={{ overflowWrap: 'anywhere' }}>
                    <Actor actor={event.actor} />
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}
