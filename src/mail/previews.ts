/** Shows mails without sending them: with the data of today, or with invented ones. */
import type { CustomerContact, CustomerFinder } from '../customers/customer-finder.ts';
import { resetUrl } from '../customers/login/reset-token.ts';
import type { Database } from '../database/database.ts';
import { AppError } from '../errors.ts';
import { readCustomersOfOrders } from '../orders/order.ts';
import type { MailName } from '../settings/config.ts';
import { type ContentDependencies, createContentReader, type MailSubject } from './content/content.ts';
import type { RenderedMail } from './content/render.ts';
import type { TemplateStore } from './content/template-store.ts';
import { sampleVariables } from './content/variables.ts';
import { mailQueries } from './queries.ts';

/** Takes the place of the token: a preview must not contain a link that works. */
const hiddenToken = '…';

interface Dependencies extends ContentDependencies {
  readonly database: Database;
  readonly templates: Pick<TemplateStore, 'read'>;
  readonly customerFinder: Pick<CustomerFinder, 'listContacts'>;
}

export type MailPreviews = ReturnType<typeof createMailPreviews>;

export function createMailPreviews(dependencies: Dependencies) {
  const { database, templates, customerFinder, issuer, site } = dependencies;
  const readVariables = createContentReader(dependencies);

  async function render(name: MailName, variables: unknown): Promise<RenderedMail> {
    const { renderMail } = await import('./content/render.ts');
    return renderMail(await templates.read(), name, variables as never);
  }

  async function preview(mail: MailSubject, customerId: number): Promise<RenderedMail> {
    const contacts = await customerFinder.listContacts(database, [customerId]);
    const contact: CustomerContact | undefined = contacts.get(customerId);
    const variables =
      contact === undefined ? null : await readVariables(mail, contact, resetUrl(issuer(), hiddenToken));
    if (variables === null) {
      throw new AppError(
        'conflict',
        'The mail cannot be shown: its customer or what it is about was deleted.',
      );
    }
    return render(mail.name, variables);
  }

  return {
    /** A mail as it would be sent today. @throws AppError notFound; conflict if its customer or order was deleted */
    async find(id: number): Promise<RenderedMail> {
      const mail = await mailQueries(database).find(id);
      if (mail === undefined) {
        throw new AppError('notFound', noMail);
      }
      return preview(mail, mail.customer_id);
    },

    /** @throws AppError notFound if the order is not there, or has no customer; conflict for a mail without an order */
    async ofOrder(name: MailName, orderId: number): Promise<RenderedMail> {
      if (!name.startsWith('order-')) {
        throw new AppError('conflict', `The mail ${name} is about no order. Leave --order out.`);
      }
      const customerId = (await readCustomersOfOrders(database, [orderId])).get(orderId);
      if (customerId === undefined) {
        throw new AppError(
          'notFound',
          `There is no order ${orderId} with a customer. Orders that an API key placed alone, and test orders, cause no mails.`,
        );
      }
      return preview({ name, order_id: orderId, sequence: null, created_at: '' }, customerId);
    },

    sample: (name: MailName): Promise<RenderedMail> => render(name, sampleVariables(site())[name]),
  };
}

export const noMail = 'There is no such mail. Mails are deleted 30 days after they ended.';
