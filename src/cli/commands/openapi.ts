import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../../app/build-app.ts';
import { loadConfig } from '../../settings/config.ts';

/** Prints the OpenAPI document of an app on an empty database, which is deleted afterwards. */
export async function printOpenapi(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'curd-openapi-'));
  const app = await buildApp(loadConfig({ CURD_DATA_DIR: dataDir, CURD_LOG_LEVEL: 'silent' }));
  try {
    process.stdout.write(`${JSON.stringify(app.describe(), null, 2)}\n`);
  } finally {
    await app.close();
    await rm(dataDir, { recursive: true });
  }
}
