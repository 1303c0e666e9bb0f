/**
 * Time series, one panel below the other, each with an axis and a unit of its own. A caption sums them up, and their
 * numbers are a table, for those who cannot see the chart.
 */
import 'uplot/dist/uPlot.min.css';
import { Button, Group, Table, Text, useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { showDay, showMonthDay } from './text/format.ts';

interface Series {
  /** What is measured, with its unit: "Value by day, euros". */
  readonly label: string;
  /** null if nothing was measured. */
  readonly values: readonly (number | null)[];
  /** Values of the period before, as a dashed line; null if it has no such step. */
  readonly before?: readonly (number | null)[];
  /** A line of steps instead of bars: for values that stay until the next one. */
  readonly isLine?: boolean;
  readonly show: (value: number) => string;
  /** Returns a text as short as an axis needs. */
  readonly showTick: (value: number) => string;
}

interface Props {
  readonly caption: string;
  /** The beginnings of the steps, ISO 8601. */
  readonly times: readonly string[];
  readonly series: readonly Series[];
}

const panelHeight = 104;
const axisHeight = 28;
/** Width of a label on an axis with dates. */
const dateWidth = 72;
/** Width of a digit in the font of axes. */
const digitWidth = 7.5;

const colors = { light: ['#8a5200', '#2f6f4f'], dark: ['#f2b544', '#7fcba4'] } as const;
/** Steps between ticks, the smallest first. There is no half order. */
const wholeSteps = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
);

interface Panel extends Series {
  readonly seconds: readonly number[];
  readonly times: readonly string[];
  readonly index: number;
  readonly hasDates: boolean;
  /** Equal in all panels, so that their days are one below the other. */
  readonly axisWidth: number;
  readonly scheme: 'light' | 'dark';
  readonly onHover: (step: number | null) => void;
}

/** Texts of axes, and their lines. */
const inkOf = (scheme: Panel['scheme']) => (scheme === 'dark' ? '#f3ecdf' : '#2b2418');
const gridOf = (scheme: Panel['scheme']) => ({ stroke: scheme === 'dark' ? '#3a3328' : '#ddd2bd', width: 1 });

function optionsOf(panel: Panel, width: number): UPlot.Options {
  const { seconds, index, hasDates, scheme, onHover, isLine = false, before } = panel;
  const ink = inkOf(scheme);
  const color = colors[scheme][index] ?? ink;
  const half = ((seconds[1] ?? 0) - (seconds[0] ?? 0)) / 2;
  return {
    width,
    height: panelHeight + (hasDates ? axisHeight : 0),
    padding: [8, 26, hasDates ? 0 : 6, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, sync: { key: 'curd' } },
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
    scales: {
      x: { range: (_, from, to) => [from - half, to + half] },
      y: { range: (_, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: axesOf(panel, width),
    series: [
      {},
      {
        stroke: color,
        points: { show: false },
        ...(isLine ? { width: 2 } : { fill: color }),
        ...pathsOf(isLine),
      },
      ...(before === undefined
        ? []
        : [{ stroke: ink, width: 1.5, dash: [4, 4], points: { show: before.length < 2, size: 6 } }]),
    ],
  };
}

function axesOf(
  { times, seconds, hasDates, axisWidth, scheme, showTick }: Panel,
  width: number,
): UPlot.Axis[] {
  const every = Math.max(
    1,
    Math.ceil(times.length / Math.max(1, Math.floor((width - axisWidth) / dateWidth))),
  );
  const [stroke, grid] = [inkOf(scheme), gridOf(scheme)];
  return [
    {
      stroke,
      grid: { show: false },
      ticks: { show: hasDates, stroke: grid.stroke },
      size: hasDates ? axisHeight : 0,
      // Counted from the last day backwards: today has a label.
      splits: () => seconds.filter((_, step) => (seconds.length - 1 - step) % every === 0),
      values: (_, splits) =>
        splits.map((at) => (hasDates ? showMonthDay(new Date(at * 1000).toISOString()) : '')),
    },
    {
      stroke,
      grid,
      ticks: { show: false },
      size: axisWidth,
      space: 32,
      incrs: wholeSteps,
      values: (_, splits) => splits.map(showTick),
    },
  ];
}

function pathsOf(isLine: boolean): Pick<UPlot.Series, 'paths'> {
  const { stepped, bars } = UPlot.paths;
  const paths = isLine ? stepped?.({ align: 1 }) : bars?.({ size: [0.6, 32] });
  return paths === undefined ? {} : { paths };
}

/** The value of a step as text. */
function showAt({ values, before, show }: Series, step: number): string {
  const showOf = (all: readonly (number | null)[]) => {
    const value = all[step] ?? null;
    return value === null ? 'none' : show(value);
  };
  return before === undefined ? showOf(values) : `${showOf(values)} (before: ${showOf(before)})`;
}

function PanelPlot(panel: Panel) {
  const { label, values, before, seconds, isLine = false } = panel;
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(panel);
  latest.current = panel;
  const { scheme, axisWidth } = panel;
  useEffect(() => {
    const element = box.current;
    if (element === null) {
      return;
    }
    let plot: UPlot | undefined;
    // A bar without a height would still have a border: several of them look like a dashed line.
    const drawn = isLine ? [...values] : values.map((value) => value || null);
    const draw = () => {
      plot?.destroy();
      plot = new UPlot(
        optionsOf({ ...latest.current, scheme, axisWidth }, element.clientWidth),
        [[...seconds], drawn, ...(before === undefined ? [] : [[...before]])],
        element,
      );
    };
    // It also draws the first time. How many dates fit depends on the width.
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot?.destroy();
    };
  }, [values, before, seconds, scheme, axisWidth, isLine]);
  return (
    <>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <div
        ref={box}
        style={{ height: panelHeight + (panel.hasDates ? axisHeight : 0), overflow: 'hidden' }}
      />
    </>
  );
}

export function Chart({ caption, times, series }: Props) {
  const [isTable, setTable] = useState(false);
  const [step, setStep] = useState<number | null>(null);
  const scheme = useComputedColorScheme('light');
  const [seconds, setSeconds] = useState<{
    readonly of: readonly string[];
    readonly all: readonly number[];
  }>();
  if (seconds?.of !== times) {
    setSeconds({ of: times, all: times.map((time) => Date.parse(time) / 1000) });
  }
  const widths = series.map(
    ({ values, before = [], showTick }) =>
      showTick(Math.max(0, ...values.map(Number), ...before.map(Number))).length,
  );
  const axisWidth = Math.max(3, ...widths) * digitWidth + 24;
  const hovered = step === null ? undefined : times[step];

  return (
    <figure style={{ margin: 0 }}>
      <Group justify="space-between" mb={4} wrap="nowrap" align="start">
        <Text component="figcaption" size="sm" className="figure">
          {hovered === undefined
            ? caption
            : `${showDay(hovered)}: ${series.map((line) => showAt(line, step ?? 0)).join(', ')}`}
        </Text>
        <Button
          size="compact-xs"
          variant="subtle"
          style={{ flexShrink: 0 }}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? 'Chart' : 'Table'}
        </Button>
      </Group>
      {isTable ? (
        <Numbers times={times} series={series} />
      ) : (
        series.map((line, index) => (
          <PanelPlot
            key={line.label}
            {...line}
            times={times}
            seconds={seconds?.all ?? []}
            index={index}
            hasDates={index === series.length - 1}
            axisWidth={axisWidth}
            scheme={scheme}
            onHover={setStep}
          />
        ))
      )}
    </figure>
  );
}

function Numbers({ times, series: panels }: Pick<Props, 'times' | 'series'>) {
  // The values before are a column beside their own.
  const series = panels.flatMap(({ before, ...one }) =>
    before === undefined ? [one] : [one, { ...one, label: `${one.label}, before`, values: before }],
  );
  return (
    <Table.ScrollContainer minWidth={260} mah={2 * panelHeight + axisHeight}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
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
              {series.map((line) => (
                <Table.Td key={line.label} ta="right" className="figure">
                  {showAt(line, row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
