/** Public URLs of uploaded images in photoUrls. They contain the host that was configured at the time of the upload. */
import { parseCheese } from '../cheeses/schemas.ts';
import type { CheeseService } from '../cheeses/service.ts';
import { commandName } from '../command-name.ts';
import { type Finding, Findings, readInPages } from '../database/checks/findings.ts';
import type { Context } from '../database/context.ts';
import type { Database, Sql } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { isLoopback } from '../settings/urls.ts';

type UrlOf = (name: string) => string;

interface WithImages {
  readonly id: number;
  readonly body: string;
  /** Names of its images. */
  readonly names: ReadonlySet<string>;
}

/** Finds image URLs with a loopback host when the configured host is another one. */
export async function inspectImageUrls(database: Sql, urlOf: UrlOf): Promise<Finding[]> {
  const findings = new Findings(
    'cheeses with image URLs that work on the machine of the server only',
    `run "${commandName} images rebase" with the settings of the server`,
  );
  if (!isLoopback(new URL(urlOf('name')).hostname)) {
    for await (const cheeses of cheesesWithImages(database)) {
      for (const { id, body, names } of cheeses) {
        const url = photosOf(body).find(
          (photo) => isOurs(photo, names) && isLoopback(new URL(photo).hostname),
        );
        if (url !== undefined) {
          findings.add(`cheese ${id}: ${url}`);
        }
      }
    }
  }
  return findings.found();
}

/** Replaces the URLs of uploaded images by URLs with the configured host. Returns the ids of changed cheeses. */
export async function rebaseImages(
  { database, cheeses }: { readonly database: Database; readonly cheeses: CheeseService },
  context: Context,
  urlOf: UrlOf,
): Promise<number[]> {
  const changed: number[] = [];
  for await (const page of cheesesWithImages(database)) {
    for (const { id, body, names } of page) {
      const rebased = (urls: readonly string[]) => [
        ...new Set(urls.map((url) => (isOurs(url, names) ? urlOf(nameIn(url)) : url))),
      ];
      if (JSON.stringify(rebased(photosOf(body))) !== JSON.stringify(photosOf(body))) {
        await cheeses.changePhotos(context, id, rebased);
        changed.push(id);
      }
    }
  }
  return changed;
}

function cheesesWithImages(database: Sql): AsyncGenerator<WithImages[]> {
  return readInPages(async (after, limit) => {
    const rows = await database.all<Omit<WithImages, 'names'>>(sql`
      select id, body from cheese where id > ${after} and id in (select cheese_id from cheese_image)
      order by id limit ${limit}`);
    const last = rows.at(-1)?.id ?? after;
    const images = await database.all<{ cheese_id: number; image_name: string }>(sql`
      select cheese_id, image_name from cheese_image where cheese_id > ${after} and cheese_id <= ${last}`);
    const names = Map.groupBy(images, ({ cheese_id }) => cheese_id);
    return rows.map((row) => ({
      ...row,
      names: new Set(names.get(row.id)?.map((image) => image.image_name)),
    }));
  });
}

function photosOf(body: string): readonly string[] {
  return parseCheese(body).photoUrls;
}

/** Whether the URL shows an image that was uploaded to the cheese. Other URLs are on other servers. */
function isOurs(url: string, names: ReadonlySet<string>): boolean {
  return URL.canParse(url) && names.has(nameIn(url));
}

function nameIn(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
