/** What helps to test an integration: the clock, events on demand, snapshots, resets and simulated failures. */
import { Stack } from '@mantine/core';
import { PageTitle } from '../../parts/page.tsx';
import { Clock } from './clock.tsx';
import { Reset } from './reset.tsx';
import { Simulation } from './simulation.tsx';
import { Snapshots } from './snapshots.tsx';
import { Trigger } from './trigger.tsx';

export default function Sandbox() {
  return (
    <>
      <PageTitle title="Sandbox" />
      <Stack gap="md">
        <Clock />
        <Trigger />
        <Snapshots />
        <Simulation />
        <Reset />
      </Stack>
    </>
  );
}
