/** The clock of the shop, with buttons that move it forward. */
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { toMsAhead, useShopClock } from '../../data/clock.ts';
import { useAdvance } from '../../parts/advance.ts';
import { TimeField } from '../../parts/fields/time-field.tsx';
import { Read } from '../../parts/page.tsx';
import { showSpan } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { Section } from './section.tsx';

const steps = [
  { advance: '5s', title: '5 seconds' },
  { advance: '1h', title: '1 hour' },
  { advance: '1d', title: '1 day' },
] as const;

export function Clock() {
  const clock = useShopClock();
  const { advance, isRunning } = useAdvance();
  const [to, setTo] = useState<string | null>(null);
  return (
    <Section
      title="Clock"
      about="Move the time of the shop forward. What becomes due on the way is done: orders are approved, sessions and keys end, yours too, and webhooks are sent again. Only a reset or a snapshot takes it back."
    >
      <Read of={clock} what="the clock">
        {(data) => (
          <>
            <Text size="sm" mb="sm">
              It is <Time at={data.now} isExact /> in the shop
              {toMsAhead(data) === 0
                ? ', as on the machine.'
                : `, ${showSpan(toMsAhead(data))} ahead of the machine.`}
            </Text>
            {data.movable ? (
              <Group align="end" gap="sm">
                {steps.map((step) => (
                  <Button
                    key={step.advance}
                    variant="default"
                    disabled={isRunning}
                    onClick={() => void advance({ advance: step.advance })}
                  >
                    {step.title}
                  </Button>
                ))}
                <TimeField label="To a time" time={to} onChange={setTo} />
                <Button
                  variant="default"
                  disabled={isRunning || to === null}
                  onClick={() => to !== null && void advance({ to }).then(() => setTo(null))}
                >
                  Move the clock
                </Button>
              </Group>
            ) : (
              <Text size="sm">
                This server follows the clock of the machine. Start it with CURD_CLOCK=movable.
              </Text>
            )}
          </>
        )}
      </Read>
    </Section>
  );
}
