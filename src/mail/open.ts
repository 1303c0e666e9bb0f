/** Opens the mails to customers: what is sent, the worker that sends them. */
import type { ClientService } from '../auth/oauth/clients.ts';
import { createPageLayout } from '../auth/oauth/pages/pages.ts';
import type { ScopeApprovals } from '../auth/oauth/scope-approvals.ts';
import { createCursors } from '../cursor.ts';
import type { CustomerAdministration } from '../customers/administration.ts';
import type { CustomerFinder } from '../customers/customer-finder.ts';
import { customerDeleted, emailChanged, passwordChanged } from '../customers/hook-points.ts';
import type { CustomerService } from '../customers/service.ts';
import { hookOn } from '../hooks/hooks.ts';
import type { Area, AreaDependencies } from '../http/area.ts';
import { counter, gauge } from '../http/metrics/metrics.ts';
import type { CountClientIp } from '../limits/client-ip-limits.ts';
import type { OrderReader } from '../orders/lists/order-reader.ts';
import type { Shipments } from '../orders/shipments/shipments.ts';
import type { ShopProfile } from '../shop/profile.ts';
import { createAccountMails } from './account-mails.ts';
import { createTemplateStore } from './content/template-store.ts';
import { createMailPause } from './pause.ts';
import { createMailPreviews } from './previews.ts';
import { forgotPasswordPages } from './reset/forgot-password-pages.ts';
import { createResetRequests } from './reset/reset-requests.ts';
import { resetRoutes } from './reset/reset-routes.ts';
import { mailRoutes } from './routes.ts';
import { createMailService } from './service.ts';
import { createTestMail } from './test-mail.ts';
import { createMailWorker } from './worker.ts';

interface Dependencies extends AreaDependencies {
  readonly profile: ShopProfile;
  readonly customerFinder: CustomerFinder;
  readonly customers: CustomerService;
  readonly countClientIp: CountClientIp;
  readonly administration: CustomerAdministration;
  readonly orderReader: OrderReader;
  readonly shipments: Shipments;
  readonly clients: ClientService;
  readonly approvals: ScopeApprovals;
}

export interface MailStatus {
  readonly transport: 'smtp' | 'file' | 'off';
  /** The folder of the files; null with another transport. */
  readonly folder: string | null;
  readonly paused: boolean;
  readonly waiting: number;
  readonly failed: number;
  readonly fault: string | null;
}

export function openMail(dependencies: Dependencies) {
  const { database, clock, config } = dependencies;
  const templates = createTemplateStore(config.mailTemplates);
  const accountMails = createAccountMails(dependencies);
  const worker = createMailWorker({ ...dependencies, accountMails, templates });
  const { stats } = worker;
  const isOff = config.mail.kind === 'off';
  const mails = createMailService(database, clock, createCursors(config.secret, 'mails'), isOff);
  const previews = createMailPreviews({ ...dependencies, templates });
  const pause = createMailPause(database, clock);
  /** What the status of the shop shows. */
  const mailStatus = async (): Promise<MailStatus> => ({
    transport: config.mail.kind === 'folder' ? 'file' : config.mail.kind,
    folder: config.mail.kind === 'folder' ? config.mail.folder : null,
    paused: await pause.isPaused(),
    ...(await stats.counts()),
    fault: stats.senderFault(),
  });
  const resets = createResetRequests({ ...dependencies, accountMails, wake: worker.wake });
  return {
    provides: { mailStatus },
    worker,
    templates,
    previews,
    pause,
    resets,
    testMail: createTestMail(dependencies),
    routes: [...mailRoutes(mails, previews, worker.wake), ...resetRoutes(resets)],
    rawRoutes: forgotPasswordPages({
      ...dependencies,
      resets,
      page: createPageLayout(dependencies.site),
      secret: config.secret,
    }),
    hooks: [
      hookOn(passwordChanged, 'background_job mail.sending', accountMails.onPasswordChange),
      hookOn(emailChanged, 'background_job mail.sending', accountMails.onEmailChange),
      hookOn(customerDeleted, 'background_job mail.sending', accountMails.onCustomerDelete),
    ],
    tasks: [worker.purge],
    gauges: [
      counter('curd_mails_total', 'Mails that ended, by mail and state: sent, dropped, failed.', stats.ended),
      gauge(
        'curd_mail_oldest_waiting_seconds',
        'Age of the oldest mail that waits to be sent.',
        stats.oldestWaitingSeconds,
      ),
    ],
    start: worker.start,
    async stop() {
      await resets.settled();
      await worker.stop();
    },
  } satisfies Area;
}
