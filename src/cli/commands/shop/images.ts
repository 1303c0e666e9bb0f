import { rebaseImages } from '../../../images/image-urls.ts';
import { publicImageUrl } from '../../../settings/urls.ts';
import type { CommandOptions } from '../../framework/options.ts';
import { pluralize, printResult } from '../../framework/output.ts';
import { withShop } from '../../framework/run-command.ts';

/** Replaces the URLs of uploaded images by the URLs of the current settings. */
export function runRebase(options: CommandOptions): Promise<void> {
  return withShop(options, async (shop) => {
    const { config, database, contextOf } = shop;
    const services = { database, cheeses: shop.cheeses.service };
    const cheeses = await rebaseImages(services, contextOf('cli'), (name) => publicImageUrl(config, name));
    const to = publicImageUrl(config, '');
    printResult(
      options,
      { cheeses, to },
      `Image URLs of ${pluralize(cheeses.length, 'cheese')} now begin with ${to}`,
    );
  });
}
