/** A small catalogue of well-known cheeses, for a shop that has none yet. */
import { readFile } from 'node:fs/promises';
import type { Context } from '../database/context.ts';
import type { CheeseService } from './service.ts';

/** Fills a catalogue that was never written to; returns how many cheeses went in. */
export async function seedDemoCatalogue(cheeses: CheeseService, context: Context): Promise<number> {
  if ((await cheeses.version()) > 0) {
    return 0;
  }
  const inputs = JSON.parse(await readFile(new URL('demo-catalogue.json', import.meta.url), 'utf8'));
  const outcomes = await cheeses.import(context, inputs, new Set());
  return outcomes.filter(({ outcome }) => outcome === 'created').length;
}
