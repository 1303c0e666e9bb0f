/** Home: how the shop is doing today, and what to do next. */
import './home.css';
import { Stack } from '@mantine/core';
import { useEffect } from 'react';
import { live } from '../../data/live.ts';
import { invalidate } from '../../parts/action.ts';
import { Loading, PageTitle } from '../../parts/page.tsx';
import { Attention } from './attention.tsx';
import { useFirstSteps } from './checklist.tsx';
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
  const firstSteps = useFirstSteps();
  return (
    <>
      <PageTitle title="Home" />
      {firstSteps === undefined ? (
        <div style={{ position: 'absolute' }}>
          <Loading what="the shop" />
        </div>
      ) : null}
      {/* What is below the first steps is read already, and shown with them: nothing moves when they arrive. */}
      <Stack gap="sm" style={{ visibility: firstSteps === undefined ? 'hidden' : 'visible' }}>
        {firstSteps}
        <Figures />
        <div className="home-grid">
          <Trend />
          <BestSellers />
        </div>
        <div className="home-grid" data-even>
          <Attention />
          <LiveEvents />
        </div>
      </Stack>
    </>
  );
}
