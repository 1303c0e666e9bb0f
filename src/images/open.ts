/** Opens the images of cheeses. */
import { cheeseDeleted } from '../cheeses/hook-points.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { openFiles } from '../files/open.ts';
import { hookOn } from '../hooks/hooks.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { gauge } from '../http/metrics/metrics.ts';
import { publicImageUrl } from '../settings/urls.ts';
import { checkImages } from './consistency-check.ts';
import { inspectImageUrls } from './image-urls.ts';
import type { ImageRenderer } from './renderer.ts';
import { imageRoutes } from './routes.ts';
import { createImageService } from './service.ts';

interface Dependencies extends AreaDependencies {
  readonly cheeses: CheeseService;
  readonly imageRenderer: ImageRenderer;
}

export async function openImages(dependencies: Dependencies) {
  const { database, clock, config, cheeses, imageRenderer: renderer, fileUrl } = dependencies;
  const files = await openFiles(config, clock);
  const service = createImageService({ database, clock, cheeses, renderer, files });
  const isRedirecting = config.images.kind === 'bucket' && config.imagesUrl !== null;
  return {
    provides: { images: service },
    service,
    routes: imageRoutes({ cheeses, images: service, urlOf: fileUrl, isRedirecting }),
    tasks: [service.deleteUnused],
    gauges: [
      gauge('curd_images', 'Images that are being rendered, or wait for it.', () => {
        const { running, waiting } = renderer.stats();
        return { '{state="running"}': running, '{state="waiting"}': waiting };
      }),
    ],
    hooks: [hookOn(cheeseDeleted, 'image_file', service.onCheeseDelete)],
    checks: [
      {
        name: 'images',
        run: async (snapshot, _, now) => [
          ...(await checkImages(database, files, now)),
          ...(await inspectImageUrls(snapshot, (name) => publicImageUrl(config, name))),
        ],
      },
    ],
  } satisfies Area;
}
