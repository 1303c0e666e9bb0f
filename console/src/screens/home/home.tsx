/** Home: how the shop is doing today, and what to do next. */
import './home.css';
import { Stack } from '@mantine/core';
import { useFreshFigures } from '../../parts/fresh-figures.ts';
import { Loading, PageTitle } from '../../parts/page.tsx';
import { Attention } from './attention.tsx';
import { useFirstSteps } from './checklist.tsx';
import { Figures } from './figures.tsx';
import { LiveEvents } from './live-events.tsx';
import { BestSellers, Trend } from './sales.tsx';

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
