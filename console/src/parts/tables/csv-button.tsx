/** Saves a list with its filters as a CSV file. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { toMessage } from '../../session/session.ts';
import { download } from '../download.ts';
import { notifications } from '../notifications.tsx';
import { showNumber } from '../text/format.ts';
import { type CsvColumns, type CsvValue, csvRowsMax, toCsv } from './csv.ts';

interface Props<Row> {
  /** Name of the file, without `.csv`: what its rows are, such as "customers". */
  readonly name: string;
  /** Reads at most so many rows. */
  readonly read: (max: number) => AsyncIterable<Row>;
  readonly columns: CsvColumns<Row>;
  /** How to get the rows that a cut file lacks. */
  readonly remedy: string;
}

export function CsvButton<Row>({ name, read, columns, remedy }: Props<Row>) {
  const [isRunning, setRunning] = useState(false);

  async function save(): Promise<void> {
    setRunning(true);
    try {
      const rows: CsvValue[][] = [];
      for await (const row of read(csvRowsMax + 1)) {
        rows.push(Object.values(columns).map((cellOf) => cellOf(row)));
      }
      download(`${name}.csv`, toCsv(Object.keys(columns), rows.slice(0, csvRowsMax)));
      if (rows.length > csvRowsMax) {
        notifications.show({
          color: 'yellow',
          title: `The file has the first ${showNumber(csvRowsMax)} rows`,
          message: remedy,
        });
      }
    } catch (error) {
      notifications.show({ color: 'red', title: 'The file was not made', message: toMessage(error) });
    } finally {
      setRunning(false);
    }
  }

  return (
    <Button size="xs" variant="default" loading={isRunning} onClick={() => void save()}>
      CSV
    </Button>
  );
}
