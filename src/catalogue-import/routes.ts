/** The route that imports a file of cheeses. */
import { anyOf, oauth } from '../access/access.ts';
import type { CheeseService } from '../cheeses/service.ts';
import type { Clock } from '../clock.ts';
import { AppError, unavailable, validationError } from '../errors.ts';
import type { ReceivedFile } from '../files/received-file.ts';
import {
  payloadTooLargeResponse,
  unprocessableResponse,
  unsupportedMediaTypeResponse,
} from '../http/responses/error-responses.ts';
import { type Route, route } from '../http/route.ts';
import { multilineRule } from '../schema/text-rules.ts';
import type { StockService } from '../stock/service.ts';
import { type Mapping, parseJsonMapping } from './column-mapping.ts';
import type { Format } from './file-formats.ts';
import { type ImportResult, importCheeses, importModes } from './import-cheeses.ts';
import { ImportError } from './import-error.ts';
import { checkImportFile } from './mapped-rows.ts';
import { ImportReport, listedRowsMax } from './schemas.ts';

/** The command imports larger files. */
export const importBytesMax = 10 * 1024 * 1024;
export const importRowsMax = 100_000;
const retrySeconds = 5;

const formats: Readonly<Record<string, Format>> = {
  csv: 'csv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  'text/csv': 'csv',
  'application/csv': 'csv',
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
};

interface Dependencies {
  readonly cheeses: CheeseService;
  readonly stock: StockService;
  readonly clock: Clock;
}

interface RunningImport {
  /** Aborted when the client of a preview has gone: it ends soon. undefined for an import. */
  readonly abandoned: AbortSignal | undefined;
  readonly ended: Promise<void>;
}

export function importRoutes(services: Dependencies): Route[] {
  let running: RunningImport | null = null;

  /**
   * @param abandoned ends the work between two rows
   * @throws AppError unavailable while another import runs
   */
  async function runAlone<T>(abandoned: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    while (running?.abandoned?.aborted) {
      await running.ended;
    }
    if (running !== null) {
      throw unavailable('Another import is running. Send yours again when it has finished.', retrySeconds);
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    running = { abandoned, ended };
    try {
      return await work();
    } catch (error) {
      // The log and the metrics show this error.
      throw abandoned?.aborted
        ? new AppError('badRequest', 'The connection was closed before the preview ended.')
        : error;
    } finally {
      running = null;
      end();
    }
  }

  return [
    route({
      method: 'POST',
      path: '/imports',
      operationId: 'importCheeses',
      tag: 'Cheeses',
      summary: 'Import a file of cheeses',
      description:
        'Creates the cheeses of a CSV, JSON or NDJSON file, in transactions of at most 250 rows. A cheese is known by its category and name. In mode `create` a cheese that exists is never changed: its row is unchanged, or refused with the fields that differ. In mode `update` fields with a value replace those of the cheese; an empty cell changes nothing, and in JSON `null` clears an optional field. With `preview` nothing is written, and the response says what the import would do. A server runs one import at a time: others get 503. A preview ends when its connection closes.',
      replay: 'beforeWork',
      dryRun: 'none',
      access: anyOf(oauth('write:cheeses')),
      upload: {
        fileField: 'file',
        fileBytesMax: importBytesMax,
        description: `A file of at most 10 MiB and ${importRowsMax} rows, in UTF-8 or UTF-16. Its name ends in .csv, .json or .ndjson, or its part has the media type. A CSV file has commas, or semicolons, tabs or bars if its header has no comma`,
        refusesOthers: true,
        fields: {
          map: {
            type: 'string',
            maxLength: 8000,
            rule: multilineRule,
            description:
              'JSON: the column of each field, or a list of columns of which the first with a value is used, such as {"name": ["NameEn", "NameFr"]}. Default: columns are named like fields',
          },
          mode: {
            type: 'string',
            enum: importModes,
            default: 'create',
            description: 'What happens to cheeses that exist',
          },
          setStock: {
            type: 'boolean',
            default: false,
            description: 'In mode `update`: stockKg sets the kilograms on hand of cheeses that exist',
          },
          preview: { type: 'boolean', default: false, description: 'Writes nothing' },
        },
      },
      storesPlainResponse: true,
      responses: {
        200: { description: 'What was imported, and what was not', schema: ImportReport },
        ...payloadTooLargeResponse('The file is larger than 10 MiB'),
        ...unsupportedMediaTypeResponse('The body is not a form, or the file is not CSV, JSON or NDJSON'),
        ...unprocessableResponse,
      },
      handle: async ({ receive, context, withIdempotency, openConnection }) => {
        const form = await receive();
        const format = form.file === null ? null : formatOf(form.file);
        const { file, fields } = form.validated();
        if (fields.setStock && fields.mode !== 'update') {
          throw validationError([{ field: 'setStock', message: 'needs the mode update' }]);
        }
        // An import continues when the connection closes: the rest of the file would be missing.
        const signal = fields.preview ? openConnection().closed : undefined;
        return withIdempotency(
          async ({ transaction }) => {
            const report = await runAlone(signal, () =>
              refuseAsValidation(async () => {
                const options = {
                  ...fields,
                  format: format as Format,
                  mapping: mappingOf(fields.map),
                  listedMax: listedRowsMax,
                  signal,
                };
                await checkImportFile(file.path, options, importRowsMax);
                return importCheeses(services, context, file.path, options);
              }),
            );
            // Stores the response of an idempotency key. Repeating an import that was cut off completes it.
            return transaction(async () => report);
          },
          (report) => ({ status: 200, body: shown(report) }),
        );
      },
    }),
  ];
}

function mappingOf(map: string | undefined): Mapping | undefined {
  return map === undefined || map === '' ? undefined : parseJsonMapping(map);
}

/** @throws AppError unsupportedMediaType */
function formatOf({ extension, mediaType }: ReceivedFile): Format {
  const format = formats[extension] ?? formats[mediaType ?? ''];
  if (format === undefined) {
    throw new AppError(
      'unsupportedMediaType',
      'The format of the file is not known. Send a file whose name ends in .csv, .json or .ndjson.',
    );
  }
  return format;
}

async function refuseAsValidation<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ImportError) {
      const remedy = error.field === 'map' ? ' Name the columns in map, as in {"name": "Column"}.' : '';
      throw validationError([{ field: error.field, message: `${error.message}${remedy}` }]);
    }
    throw error;
  }
}

/** Lines are numbers here; `place` is for people who read the output of the command. */
function shown({ refused, changed, remarks, sample, ...rest }: ImportResult) {
  const withoutPlace = <T extends { readonly place: string }>({ place: _, ...row }: T) => row;
  return {
    ...rest,
    refused: refused.map(withoutPlace),
    changed: changed.map(withoutPlace),
    remarks: remarks.map(withoutPlace),
    sample: sample.map(withoutPlace),
  };
}
