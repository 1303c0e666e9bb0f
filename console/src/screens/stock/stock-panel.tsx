/** The stock of one cheese, on its page. */
import { Button, Group, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Cheese } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { Read } from '../../parts/page.tsx';
import { showGrams, showKilograms, showNumber } from '../../parts/text/format.ts';
import { LevelBadge } from './level-badge.tsx';
import { type StockAction, StockDialog } from './stock-dialogs.tsx';

interface Props {
  readonly cheeseId: number;
  readonly name: string;
  /** The pieces in which it is sold. */
  readonly portions?: Cheese['portions'];
  /** Whether to show a link to the history of the stock. The page of that history needs none. */
  readonly hasLink?: boolean;
}

export function StockPanel({ cheeseId, name, portions = [], hasLink = true }: Props) {
  const [action, setAction] = useState<StockAction | null>(null);
  // A list, because stock that is not tracked is no error.
  const stock = useApi(['stock', cheeseId], async (curd, signal) => {
    const { items } = await curd.stock.list({ cheeseIds: [String(cheeseId)] }, { signal });
    return items[0] ?? null;
  });
  return (
    <section className="card" aria-label="Stock">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          Stock
        </Title>
        <Group gap="xs">
          {stock.data === null ? (
            <Button size="compact-sm" variant="default" onClick={() => setAction('begin')}>
              Begin tracking
            </Button>
          ) : null}
          {stock.data ? (
            <>
              <Button size="compact-sm" variant="default" onClick={() => setAction('adjust')}>
                Adjust
              </Button>
              <Button size="compact-sm" variant="default" onClick={() => setAction('count')}>
                Count
              </Button>
              {hasLink ? (
                <Button size="compact-sm" variant="subtle" component={Link} href={`/stock/${cheeseId}`}>
                  History
                </Button>
              ) : null}
            </>
          ) : null}
        </Group>
      </Group>
      <Read of={stock} what="the stock">
        {(row) =>
          row === null ? (
            <Text size="sm" c="dimmed">
              Not tracked: it is sold without limit.
            </Text>
          ) : (
            <>
              <Text size="sm" component="div">
                {showKilograms(row.onHand)} on hand, {showKilograms(row.reserved)} reserved,{' '}
                <strong>{showKilograms(row.available)} available</strong>
                {row.lowAt === null ? '' : `, low at ${showKilograms(row.lowAt)}`} <LevelBadge stock={row} />
              </Text>
              {portions.length > 0 ? (
                <Text size="sm" c="dimmed">
                  Enough for {piecesOf(row.available, portions)}
                </Text>
              ) : null}
            </>
          )
        }
      </Read>
      {action === null ? null : (
        <StockDialog
          action={action}
          cheeseId={cheeseId}
          name={name}
          stock={stock.data ?? undefined}
          onClose={() => setAction(null)}
        />
      )}
    </section>
  );
}

/** How many of each piece could be cut: "32 × 200 g or 1 × 8 kg". */
const piecesOf = (available: number, portions: NonNullable<Cheese['portions']>): string =>
  portions
    .map(({ grams }) => {
      // Kilograms are doubles, and grams are exact.
      const count = Math.floor(Math.max(0, Math.round(available * 1000)) / grams);
      return `${showNumber(count)} × ${showGrams(grams)}`;
    })
    .join(' or ');
