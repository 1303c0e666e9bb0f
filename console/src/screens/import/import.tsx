/** Imports a file of cheeses: its columns, a preview, and the run. */
import { Alert, Button, Code, Group, SegmentedControl, Stack, Switch, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ImportOptions, isCurdError } from '../../../../client/src/index.ts';
import { useSignedIn } from '../../data/queries.ts';
import { shopCommand } from '../../environment.ts';
import { DropZone } from '../../parts/fields/drop-zone.tsx';
import { Loading, PageTitle } from '../../parts/page.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { toMessage } from '../../session/session.ts';
import { guessMapping, type Mapping, readColumns } from './columns.ts';
import { MappingForm } from './mapping-form.tsx';
import { RemoveDemo } from './remove-demo.tsx';
import { Changes, Counts, Done, type ImportReport, Refusals, ReportFile, Sample } from './report.tsx';

const accept = '.csv,.json,.ndjson,.jsonl';
const bytesMax = 10 * 1024 * 1024;
const restMs = 250;
/** A file of 100,000 rows on a small machine. */
const timeoutMs = 10 * 60_000;

interface Source {
  readonly file: File;
  readonly columns: readonly string[];
  /** Distinguishes a file that was chosen again after it was changed. */
  readonly chosenAt: number;
}

export default function Import() {
  const { curd, person } = useSignedIn();
  const client = useQueryClient();
  const [source, setSource] = useState<Source | null>(null);
  const [mapping, setMapping] = useState<Mapping>({});
  const [mode, setMode] = useState<'create' | 'update'>('create');
  const [setsStock, setSetsStock] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [done, setDone] = useState<{ readonly report: ImportReport; readonly file: string } | null>(null);

  const options: ImportOptions = {
    mode,
    timeoutMs,
    ...(Object.keys(mapping).length === 0 ? {} : { map: mapping }),
    ...(mode === 'update' ? { setStock: setsStock } : {}),
  };
  const hasName = mapping.name !== undefined || source?.columns.length === 0;
  const wanted = JSON.stringify([source?.chosenAt, mapping, mode, setsStock]);
  // A server runs one import at a time. A change of the choices ends the preview of those before at once, and the next
  // one is sent when the choices rest.
  const [rested] = useDebouncedValue(wanted, restMs);
  const isResting = rested === wanted;
  const preview = useQuery({
    queryKey: ['import', wanted],
    enabled: source !== null && hasName && !isRunning && isResting,
    queryFn: async ({ signal }) =>
      await curd.cheeses.import((source as Source).file, { ...options, preview: true, signal }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const report = source === null || !hasName || preview.isError ? undefined : preview.data;

  async function choose([file]: readonly File[]): Promise<void> {
    if (file === undefined) {
      return;
    }
    setDone(null);
    setSource(null);
    setRefusal(null);
    if (!accept.split(',').some((extension) => file.name.toLowerCase().endsWith(extension))) {
      setRefusal(`${file.name} is not a file of cheeses: its name must end in .csv, .json or .ndjson.`);
    } else if (file.size > bytesMax) {
      setRefusal(
        `${file.name} has more than 10 MiB. Import it with: ${shopCommand} import cheeses ${file.name}`,
      );
    } else {
      const columns = await readColumns(file);
      setMapping(guessMapping(columns));
      setSource({ file, columns, chosenAt: Date.now() });
    }
  }

  async function run({ file }: Source): Promise<void> {
    setRunning(true);
    setRefusal(null);
    try {
      setDone({ report: await curd.cheeses.import(file, options), file: file.name });
      setSource(null);
    } catch (error) {
      setRefusal(sentenceOf(error));
    } finally {
      setRunning(false);
      void client.invalidateQueries({ queryKey: ['cheeses'] });
    }
  }

  if (!person.mayWriteCheeses) {
    return (
      <>
        <PageTitle title="Import" />
        <Text c="dimmed">Your sign-in may read cheeses, but not write them.</Text>
      </>
    );
  }
  const changes = (report?.created ?? 0) + (report?.updated ?? 0);
  const isStale = preview.isFetching || !isResting;
  return (
    <>
      <PageTitle title="Import">
        {person.isAdmin && source === null ? <RemoveDemo /> : null}
        {source === null ? null : (
          <Button size="xs" variant="default" disabled={isRunning} onClick={() => setSource(null)}>
            Another file
          </Button>
        )}
        {source === null ? null : (
          <Button
            size="xs"
            loading={isRunning}
            disabled={report === undefined || changes === 0 || isStale}
            onClick={() => void run(source)}
          >
            {changes === 1 ? 'Import 1 cheese' : `Import ${showNumber(changes)} cheeses`}
          </Button>
        )}
      </PageTitle>
      <Stack gap="md">
        {done === null ? null : <Done report={done.report} file={done.file} />}
        {done === null ? null : <Refusals report={done.report} />}
        {refusal === null ? null : (
          <Alert color="red" variant="light" title="This was not imported">
            {refusal}
          </Alert>
        )}
        {source === null ? <Beginning onFiles={choose} /> : null}
        {source === null ? null : (
          <>
            <Group gap="sm">
              <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                {source.file.name}
                {report === undefined ? '' : `, ${showNumber(report.rows)} rows`}
              </Text>
              <SegmentedControl
                size="xs"
                aria-label="Cheeses that exist"
                data={[
                  { value: 'create', label: 'Add new cheeses' },
                  { value: 'update', label: 'Add and update' },
                ]}
                value={mode}
                onChange={(value) => setMode(value as 'create' | 'update')}
              />
              {mode === 'update' && mapping.stockKg !== undefined ? (
                <Switch
                  size="xs"
                  label="Also set the stock of cheeses that exist"
                  checked={setsStock}
                  onChange={({ currentTarget }) => setSetsStock(currentTarget.checked)}
                />
              ) : null}
            </Group>
            <MappingForm columns={source.columns} mapping={mapping} onChange={setMapping} />
            {hasName ? null : (
              <Alert color="yellow" variant="light">
                Choose the column of the name: then the preview is shown.
              </Alert>
            )}
            {preview.isError ? (
              <Alert color="red" variant="light" title="The file cannot be imported like this">
                {sentenceOf(preview.error)}
              </Alert>
            ) : null}
            {isStale && report === undefined && hasName ? <Loading what="the preview" /> : null}
            {report === undefined ? null : (
              <Stack gap="md" aria-busy={isStale} opacity={isStale ? 0.6 : 1}>
                <Counts report={report} />
                <Refusals report={report} />
                <Changes report={report} />
                <Sample report={report} />
                {report.refusedCount === 0 ? null : (
                  <div>
                    <ReportFile report={report} file={source.file.name} />
                  </div>
                )}
              </Stack>
            )}
          </>
        )}
      </Stack>
    </>
  );
}

function Beginning({ onFiles }: { readonly onFiles: (files: File[]) => void }) {
  return (
    <>
      <DropZone action="Choose a file" accept={accept} onFiles={onFiles} />
      <Text size="sm" c="dimmed">
        A CSV, JSON or NDJSON file of at most 10 MiB. Before anything is written, you see what would happen. A
        cheese is known by its category and name. Larger files: <Code>{shopCommand} import cheeses</Code>
      </Text>
    </>
  );
}

/** The sentence of the field, if the server names one. */
function sentenceOf(error: unknown): string {
  return (isCurdError(error) ? error.errors[0]?.message : undefined) ?? toMessage(error);
}
