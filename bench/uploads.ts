/** Uploads of images: throughput compared with sharp alone in the same number of slots, and memory during uploads. */
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import sharp from 'sharp';
import { composeShop } from '../src/app/compose.ts';
import type { Engine } from '../src/database/sql.ts';
import { loadConfig } from '../src/settings/config.ts';
import { startCurd, startLimits } from './process.ts';
import type { Tools } from './store.ts';

const uploaders = 6;
const atOnce = 32;
const cheeses = 500;
const boundary = 'bench-of-curd';

/** About 5 MiB and twelve megapixels, like an image of a phone. */
async function createImage(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 33 } as const;
  return sharp({ create: { width: 4032, height: 3024, channels: 3, background: '#888', noise } })
    .jpeg({ quality: 80 })
    .toBuffer();
}

function formOf(image: Buffer): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), image, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

/** Uploads of a JPEG of 5 MiB. The database hardly matters here. */
export async function benchUploads(
  engine: Engine,
  shop: { readonly environment: Readonly<Record<string, string>> },
  tools: Tools,
): Promise<void> {
  const { rounds, seconds, median, record } = tools;
  const services = await composeShop(loadConfig(shop.environment));
  const account = await services.auth.keys.createAccount(services.contextOf('bench'), 'bench photos');
  const scopes = ['write:cheeses'];
  // A credential has a limit of parallel uploads.
  const keys = await Promise.all(
    [1, 2].map(() => services.auth.keys.create(services.contextOf('bench'), account.id, { scopes })),
  );
  await services.close();
  const image = await createImage();
  const form = formOf(image);
  const agent = new Agent({ keepAlive: true });
  const server = await startCurd(shop.environment);
  const limits = await startLimits({ databaseUrl: null, photo: image.toString('base64') });
  let uploads = 0;

  function upload(): Promise<void> {
    uploads += 1;
    return new Promise((resolve, reject) => {
      const headers = {
        'X-API-Key': keys[uploads % keys.length]?.key,
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        'Content-Length': form.length,
      };
      const path = `/v2/cheeses/${(uploads % cheeses) + 1}/uploadImage`;
      const sending = request({ agent, port: server.port, path, method: 'POST', headers }, (response) => {
        response
          .resume()
          .on('end', () =>
            response.statusCode === 200
              ? resolve()
              : reject(new Error(`The upload returned ${response.statusCode}.`)),
          );
      });
      sending.on('error', reject).end(form);
    });
  }

  async function uploadFor(time: number): Promise<number> {
    const startedAt = performance.now();
    let done = 0;
    async function work(): Promise<void> {
      while (performance.now() - startedAt < time * 1000) {
        await upload();
        done += 1;
      }
    }
    await Promise.all(Array.from({ length: uploaders }, work));
    return done / ((performance.now() - startedAt) / 1000);
  }

  async function sharpFor(time: number): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${limits.port}/sharp?seconds=${time}`);
    return Number(await response.text());
  }

  const ours: number[] = [];
  const bare: number[] = [];
  // Few images finish in a second, so these rounds are longer.
  for (let round = -1; round < rounds; round += 1) {
    const time = round < 0 ? 2 : seconds * 3;
    const uploaded = await uploadFor(time);
    const rendered = await sharpFor(time);
    if (round >= 0) {
      ours.push(uploaded);
      bare.push(rendered);
    }
  }
  const ratio = median(ours.map((rate, round) => rate / (bare[round] ?? Number.NaN)));
  record({
    engine,
    work: `upload of an image of ${(image.length / 1024 / 1024).toFixed(1)} MiB, ${uploaders} clients`,
    measured: `${median(ours).toFixed(2)}/s`,
    limit: `sharp alone ${median(bare).toFixed(2)}/s`,
    ratio,
    target: '>= 0.85',
    isMet: ratio >= 0.85,
  });

  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, memoryMbOf(server.pid));
  }, 25);
  await Promise.all(Array.from({ length: atOnce }, upload));
  clearInterval(watch);
  record({
    engine,
    work: `memory during ${atOnce} uploads at once, with worker processes`,
    measured: `${Math.round(peak)} MB`,
    limit: '350 MB',
    ratio: Number.NaN,
    target: '<= 350 MB',
    isMet: peak <= 350,
  });
  agent.destroy();
  await limits.stop();
  await server.stop();
}

/** Memory of a process and its children. Shared pages count once (Linux; NaN elsewhere). */
function memoryMbOf(pid: number): number {
  try {
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((name) => parentOf(name) === pid);
    return [String(pid), ...children].map(shareMbOf).reduce((sum, one) => sum + one, 0);
  } catch {
    return Number.NaN;
  }
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}

function shareMbOf(pid: string): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
  } catch {
    return 0;
  }
}
