/** The header that simulates a failure for one request, put together and copied. */
import { Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { Copyable } from '../../parts/text/copyable.tsx';
import { Section } from './section.tsx';

const statuses = ['401', '403', '404', '409', '412', '413', '415', '422', '429', '500', '502', '503', '504'];

const connections: Readonly<Record<string, string>> = {
  'drop-before': 'The connection is closed before anything is done.',
  'drop-after': 'Everything is done, and the connection is closed without a response.',
  truncate: 'Everything is done, and the connection is closed in the middle of the body.',
  reset: 'Everything is done, and the connection is reset.',
};

const delays = ['1s', '2s', '5s', '30s'];

export function Simulation() {
  const [failure, setFailure] = useState<string | null>('drop-after');
  const [delay, setDelay] = useState<string | null>(null);
  const words = [...(delay === null ? [] : [`slow=${delay}`]), ...(failure === null ? [] : [failure])];
  const header = `Sandbox-Simulate: ${words.join(', ')}`;
  return (
    <Section
      title="Simulated failures"
      about="Send this header with a request to see what your client does when the shop fails. It is ignored in production."
    >
      <Group align="end" gap="sm" mb="sm">
        <Select
          label="Failure"
          placeholder="none"
          clearable
          clearButtonProps={{ 'aria-label': 'No failure' }}
          data={[
            { group: 'Connection', items: Object.keys(connections) },
            { group: 'Status', items: statuses },
          ]}
          value={failure}
          onChange={setFailure}
        />
        <Select
          label="Delay"
          placeholder="none"
          clearable
          clearButtonProps={{ 'aria-label': 'No delay' }}
          data={delays}
          value={delay}
          onChange={setDelay}
        />
      </Group>
      {words.length === 0 ? (
        <Text size="sm" c="dimmed">
          Choose a failure or a delay.
        </Text>
      ) : (
        <>
          <Text size="sm" className="simulation" component="div">
            <Copyable value={header}>
              <code>{header}</code>
            </Copyable>
          </Text>
          <Text size="sm" c="dimmed">
            {delay === null ? '' : `The response begins ${delay} later. `}
            {failure === null
              ? 'Everything is done.'
              : (connections[failure] ?? `The response has the status ${failure}, and nothing is done.`)}
          </Text>
        </>
      )}
    </Section>
  );
}
