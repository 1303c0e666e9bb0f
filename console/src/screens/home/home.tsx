/** Home: how the shop is doing today, and what to do next. */
import './home.css';
import { Grid, Stack } from '@mantine/core';
import { useEffect } from 'react';
import { live } from '../../live.ts';
import { invalidate } from '../../parts/action.ts';
import { PageTitle } from '../../parts/page.tsx';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { Figures } from './figures.tsx';
import { LiveEvents } from './live-events.tsx';
import { BestSellers, Trend } from './sales.tsx';

/** The server counts new events every two seconds. */
const countedMs = 3000;
/** Late orders, and the comparison with the week before, change without an event. */
const refreshMs = 5 * 60_000;

function useFreshFigures(): void {
  useEffect(() => {
    let timer: number | undefined;
    const refresh = () => {
      timer = undefined;
      void invalidate('statistics');
    };
    const stop = live.onEvent(({ type }) => {
      if (/^(order|customer)\./.test(type)) {
        timer ??= window.setTimeout(refresh, countedMs);
      }
    });
    // What happened just before this screen was opened may not be counted yet.
    timer = window.setTimeout(refresh, countedMs);
    const interval = window.setInterval(() => void invalidate('statistics', 'orders'), refreshMs);
    return () => {
      stop();
      window.clearTimeout(timer);
      window.clearInterval(interval);
    };
  }, []);
}

export default function Home() {
  useFreshFigures();
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
