/** Makes an event happen, by the real change that causes it. */
import { Anchor, Button, Group, Select, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import type { CurdEvent, EventType } from '../../../../client/src/index.ts';
import { queryClient, useCurd } from '../../data/queries.ts';
import { useAction } from '../../parts/action.ts';
import { Subject } from '../../parts/text/subject.tsx';
import { kinds } from '../events/event-types.ts';
import { Section } from './section.tsx';

/** A reset has a button of its own. */
const choices = kinds
  .map(({ name, types }) => ({ group: name, items: types.filter((type) => type !== 'shop.reset') }))
  .filter(({ items }) => items.length > 0);

export function Trigger() {
  const curd = useCurd();
  const { run, isRunning } = useAction();
  const [type, setType] = useState<string | null>('order.placed');
  const [subject, setSubject] = useState('');
  const [made, setMade] = useState<Pick<CurdEvent, 'id' | 'type' | 'subject'> | null>(null);
  async function submit(submitted: FormEvent): Promise<void> {
    submitted.preventDefault();
    await run(null, async () => {
      const given = subject.trim();
      const { event } = await curd.sandbox.triggerEvent({
        type: type as EventType,
        ...(given === '' ? {} : { subject: given }),
      });
      setMade(event);
    });
    await queryClient.invalidateQueries();
  }
  return (
    <Section
      title="Events"
      about="Make an event happen by the real change that causes it, so that your webhooks and readers get it. Without a subject, something new is made for it."
    >
      <form onSubmit={(event) => void submit(event)}>
        <Group align="end" gap="sm" mb="sm">
          <Select
            label="Type"
            data={choices}
            value={type}
            onChange={setType}
            searchable
            nothingFoundMessage="There is no such type"
            style={{ flex: '0 1 16rem' }}
          />
          <TextInput
            label="Subject"
            placeholder="order:31"
            maxLength={120}
            value={subject}
            onChange={({ currentTarget }) => setSubject(currentTarget.value)}
            style={{ flex: '0 1 10rem' }}
          />
          <Button type="submit" variant="default" loading={isRunning} disabled={type === null}>
            Make it happen
          </Button>
        </Group>
      </form>
      {made === null ? null : (
        <Text size="sm" role="status">
          <Anchor component={Link} href={`/events?event=${made.id}`} size="sm" underline="always">
            {made.type}
          </Anchor>{' '}
          happened to <Subject subject={made.subject} />.
        </Text>
      )}
    </Section>
  );
}
