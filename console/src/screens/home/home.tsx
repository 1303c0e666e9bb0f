/** Home: how the shop is doing today, and what to do next. */
import './home.css';
import { Grid, Stack } from '@mantine/core';
import { PageTitle } from '../../parts/page.tsx';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { Figures } from './figures.tsx';
import { LiveEvents } from './live-events.tsx';
import { BestSellers, Trend } from './sales.tsx';

export default function Home() {
  return (
    <>
      <PageTitle title="Home" />
      <Stack gap="sm">
        <Checklist />
        <Figures />
        <Grid gap="sm">
          <Grid.Col span={{ base: 12, lg: 8 }}>
            <Trend />
          </Grid.Col>
          <Grid.Col span={{ base: 12, lg: 4 }}>
            <BestSellers />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <Attention />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <LiveEvents />
          </Grid.Col>
        </Grid>
      </Stack>
    </>
  );
}
