/** What helps to test an integration: the clock, snapshots, resets and simulated failures. */
import { Stack } from '@mantine/core';
import { PageTitle } from '../../parts/page.tsx';
import { Clock } from './clock.tsx';
import { Reset } from './reset.tsx';
import { Simulation } from './simulation.tsx';
import { Snapshots } from './snapshots.tsx';

export default function Sandbox() {
  return (
    <>
      <PageTitle title="Sandbox" />
      <Stack gap="md">
        <Clock />
        <Snapshots />
        <Simulation />
        <Reset />
      </Stack>
    </>
  );
}
