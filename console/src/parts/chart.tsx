/** A chart of time series, with a caption that sums it up and its numbers as a table, for those who cannot see it. */
import 'uplot/dist/uPlot.min.css';
import { Button, Group, Table, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { showDay } from './format.ts';

interface Series {
  readonly label: string;
  readonly values: readonly number[];
  readonly show: (value: number) => string;
}

interface Props {
  readonly caption: string;
  /** The beginnings of the steps, ISO 8601. */
  readonly times: readonly string[];
  readonly series: readonly Series[];
  readonly height?: number;
}

const colors = { light: ['#8a5200', '#2f6f4f'], dark: ['#f2b544', '#7fcba4'] } as const;

export function Chart({ caption, times, series, height = 180 }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [isTable, setTable] = useState(false);
  const scheme = useComputedColorScheme('light');

  useEffect(() => {
    const element = box.current;
    if (element === null || isTable) {
      return;
    }
    const text = scheme === 'dark' ? '#f3ecdf' : '#2b2418';
    const grid = { stroke: scheme === 'dark' ? '#3a3328' : '#ddd2bd', width: 1 };
    // At rest, the legend has the values of the last step.
    const showLast = (plot: UPlot) => plot.setLegend({ idx: times.length - 1 });
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: true },
        hooks: {
          ready: [showLast],
          setCursor: [(current) => (current.cursor.idx == null ? showLast(current) : undefined)],
        },
        cursor: { drag: { x: false, y: false } },
        axes: [
          { stroke: text, grid },
          ...series.map((_, index) => ({
            scale: `y${index}`,
            stroke: text,
            grid: index === 0 ? grid : { show: false },
            side: index === 0 ? 3 : 1,
            size: 56,
          })),
        ],
        series: [
          {
            label: 'Day',
            value: (_: UPlot, value: number | null) =>
              value === null ? '' : showDay(new Date(value * 1000).toISOString()),
          },
          ...series.map(({ label, show }, index) => ({
            label,
            scale: `y${index}`,
            stroke: colors[scheme][index] ?? text,
            width: 2,
            points: { show: false },
            value: (_: UPlot, value: number | null) => (value === null ? '' : show(value)),
          })),
        ],
      },
      [times.map((time) => Date.parse(time) / 1000), ...series.map(({ values }) => [...values])],
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, height, scheme, isTable]);

  return (
    <figure style={{ margin: 0 }}>
      <Group justify="space-between" mb={4}>
        <Text component="figcaption" size="sm">
          {caption}
        </Text>
        <Button size="compact-xs" variant="subtle" onClick={() => setTable(!isTable)}>
          {isTable ? 'Chart' : 'Table'}
        </Button>
      </Group>
      {isTable ? (
        <Table.ScrollContainer minWidth={300} mah={height + 60}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                {series.map(({ label }) => (
                  <Table.Th key={label} ta="right">
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {times.map((time, row) => (
                <Table.Tr key={time}>
                  <Table.Td>{showDay(time)}</Table.Td>
                  {series.map(({ label, values, show }) => (
                    <Table.Td key={label} ta="right" className="figure">
                      {show(values[row] ?? 0)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      ) : (
        <div ref={box} />
      )}
    </figure>
  );
}
