/** Events of cheeses, of their images, and of their stock. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCheese } from '../../cheeses/schemas.ts';
import type { CheeseService } from '../../cheeses/service.ts';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import type { ImageService } from '../../images/service.ts';
import type { Stock } from '../../stock/schemas.ts';
import type { StockService } from '../../stock/service.ts';
import { changing, making, randomText, type TriggerRequest, type Triggers } from './trigger.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly config: { readonly incomingDir: string };
  readonly fileUrl: (name: string) => string;
  readonly cheeses: CheeseService;
  readonly images: ImageService;
  readonly stock: StockService;
}

/** Makes a cheese that can be ordered. @returns its id */
export type MakeCheese = (request: TriggerRequest, pricePerKg?: number) => Promise<number>;

/** One transparent pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const unit = 5;

export function createMakeCheese({ clock, cheeses }: Pick<Dependencies, 'clock' | 'cheeses'>): MakeCheese {
  return async ({ context }, pricePerKg = 20) => {
    const name = `Test cheese ${randomText(clock, 6)}`;
    const { body } = await cheeses.create(context, {
      name,
      pricePerKg,
      photoUrls: [],
      tags: [],
      status: 'available',
    });
    return JSON.parse(body).id;
  };
}

export function cheeseTriggers(dependencies: Dependencies, makeCheese: MakeCheese): Triggers {
  const { cheeses } = dependencies;
  return {
    'cheese.created': making('cheese', (request) => makeCheese(request)),
    'cheese.updated': changing('cheese', makeCheese, async ({ context }, id) => {
      const { body } = await cheeses.find(id);
      const { pricePerKg = 0 } = parseCheese(body);
      await cheeses.patch(context, id, { pricePerKg: pricePerKg < 1000 ? pricePerKg + 1 : 1 });
    }),
    'cheese.deleted': changing('cheese', makeCheese, ({ context }, id) => cheeses.delete(context, id)),
    'cheese.image_uploaded': changing('cheese', makeCheese, (request, id) =>
      addImage(dependencies, request, id),
    ),
    ...stockTriggers(dependencies, makeCheese),
  };
}

async function addImage(
  { clock, config, images, cheeses, fileUrl }: Dependencies,
  { context }: TriggerRequest,
  cheeseId: number,
): Promise<void> {
  await cheeses.find(cheeseId);
  await mkdir(config.incomingDir, { recursive: true, mode: 0o700 });
  const path = join(config.incomingDir, clock.uuid());
  await writeFile(path, png);
  try {
    const stored = await images.store(path, 'png');
    const details = { size: png.length, caption: null, isPrimary: false };
    await images.attach(context, { ...stored, ...details, cheeseId, urlOf: fileUrl });
  } finally {
    await rm(path, { force: true });
  }
}

function stockTriggers({ stock }: Dependencies, makeCheese: MakeCheese): Triggers {
  async function makeStock(request: TriggerRequest): Promise<number> {
    const id = await makeCheese(request);
    await stock.replace(request.context, id, { onHand: 4 * unit, lowAt: 2 * unit });
    return id;
  }
  const find = async (id: number): Promise<Stock> => JSON.parse((await stock.find(id)).body);

  /** Less than nothing can be available, because orders have reserved it: then nothing falls any more. */
  async function lower(
    { context }: TriggerRequest,
    id: number,
    to: number,
    available: number,
  ): Promise<void> {
    if (available <= to) {
      throw new AppError(
        'conflict',
        `${available} kg of the cheese are available, which is not more than ${to} kg already. Adjust its stock first.`,
      );
    }
    await stock.adjust(context, id, { deltaKg: to - available, reason: 'spoiled' });
  }

  return {
    'stock.adjusted': changing('stock', makeStock, ({ context }, id) =>
      stock.adjust(context, id, { deltaKg: unit, reason: 'received' }),
    ),
    'stock.low': changing('stock', makeStock, async (request, id) => {
      const { available, lowAt } = await find(id);
      if (lowAt === null) {
        throw new AppError(
          'conflict',
          'The stock of the cheese has no lowAt, so it is never low. Set it first.',
        );
      }
      await lower(request, id, lowAt, available);
    }),
    'stock.depleted': changing('stock', makeStock, async (request, id) => {
      const { available } = await find(id);
      await lower(request, id, 0, available);
    }),
  };
}
