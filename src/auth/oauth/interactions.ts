/** Login and consent: what a person is asked on the way, and what becomes of the answers. */
import type { default as Provider, Session } from 'oidc-provider';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { headersOf, statusOf } from '../../http/error-mapping.ts';
import { createCsrfTokens, readForm, redirectSeeOther, sendPage } from '../../http/pages/send-page.ts';
import type { RawRequest } from '../../http/raw-routes.ts';
import type { ApprovalService } from './approvals.ts';
import type { CustomerDirectory, CustomerSummary } from './customer-directory.ts';
import { type ClientInfo, consentPage, loginPage, logoutPage } from './pages.ts';
import { isScope, permittedScopes } from './scopes.ts';

interface Dependencies {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly people: CustomerDirectory;
  readonly approvals: ApprovalService;
  readonly secret: string;
  readonly issuer: string;
}

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

/** What the application asked for, held against what this person may grant. */
interface ConsentRequest {
  readonly asking: ClientInfo;
  readonly clientId: string;
  readonly person: CustomerSummary;
  readonly customerId: number;
  readonly granted: readonly string[];
  readonly refused: readonly string[];
  readonly awaitsApproval: boolean;
}

export interface Interactions {
  show(call: RawRequest): Promise<void>;
  login(call: RawRequest): Promise<void>;
  consent(call: RawRequest): Promise<void>;
  showLogout(call: RawRequest): Promise<void>;
  logout(call: RawRequest): Promise<void>;
}

export function createInteractions({
  provider,
  clock,
  people,
  approvals,
  secret,
  issuer,
}: Dependencies): Interactions {
  const proofs = createCsrfTokens(secret, issuer);

  /** The interaction that address and cookie name alike. @throws the library's SessionNotFound */
  async function detailsOf({ request, response, params }: RawRequest): Promise<Details> {
    const details = await provider.interactionDetails(request, response);
    if (details.uid !== params.uid) {
      throw new AppError('badRequest', 'The page belongs to another login.');
    }
    return details;
  }

  async function askingOf({ params }: Details): Promise<ClientInfo> {
    const client = await provider.Client.find(String(params.client_id));
    const target = URL.parse(String(params.redirect_uri));
    return {
      name: client?.clientName ?? String(params.client_id),
      host: target?.host || target?.protocol || '',
    };
  }

  async function questionOf(details: Details): Promise<ConsentRequest> {
    const customerId = Number(details.session?.accountId);
    const person = await people.find(customerId);
    if (person === undefined) {
      throw new AppError('badRequest', 'The customer is gone.');
    }
    const clientId = String(details.params.client_id);
    const asked = String(details.params.scope).split(' ');
    const isApproved = asked.includes('admin') && (await approvals.isApproved(clientId, customerId));
    const permitted: readonly string[] = permittedScopes(person.role, isApproved);
    return {
      asking: await askingOf(details),
      clientId,
      person,
      customerId,
      granted: asked.filter((scope) => permitted.includes(scope)),
      refused: asked.filter((scope) => !permitted.includes(scope)),
      awaitsApproval: asked.includes('admin') && person.role === 'staff' && !isApproved,
    };
  }

  /** Keeps the answer and goes back to the authorization request, at our own address whatever the library says. */
  async function finishInteraction(
    { request, response }: RawRequest,
    result: object,
    merge: boolean,
  ): Promise<void> {
    const returnTo = await provider.interactionResult(request, response, result as never, {
      mergeWithLastSubmission: merge,
    });
    const { pathname, search } = new URL(returnTo);
    redirectSeeOther(response, pathname + search);
  }

  const formOf = (details: Details, step: 'login' | 'consent') => ({
    action: `/oauth/interaction/${details.uid}/${step}`,
    token: proofs.tokenFor(`${step} ${details.uid}`),
  });

  async function sessionOf({ request, response }: RawRequest): Promise<Session> {
    const context = provider.createContext(request, response);
    return provider.Session.get({ req: request, res: response, secure: context.secure } as never);
  }

  /** Somebody else logs in where another session was open: it ends, and this login no longer belongs to it. */
  async function leaveOldSession(call: RawRequest, details: Details, customerId: number): Promise<void> {
    if (details.session === undefined || details.session.accountId === String(customerId)) {
      return;
    }
    await (await sessionOf(call)).destroy();
    (details as { session?: unknown }).session = undefined;
    await details.save(details.exp - Math.floor(clock.now() / 1000));
  }

  return {
    async show(call) {
      const details = await detailsOf(call);
      const formTarget = targetOf(details);
      if (details.prompt.name === 'login') {
        const page = loginPage(formOf(details, 'login'), await askingOf(details), {
          username: String(details.params.login_hint ?? ''),
        });
        sendPage(call.response, 200, page, { formTarget });
        return;
      }
      const question = await questionOf(details);
      if (question.awaitsApproval) {
        await approvals.request(question.clientId, question.customerId);
      }
      if (question.granted.length === 0) {
        await finishInteraction(
          call,
          { error: 'access_denied', error_description: denialOf(question) },
          false,
        );
        return;
      }
      const page = consentPage(formOf(details, 'consent'), {
        asking: question.asking,
        username: question.person.username,
        scopes: question.granted.filter(isScope),
        awaitsApproval: question.awaitsApproval,
      });
      sendPage(call.response, 200, page, { formTarget });
    },

    async login(call) {
      const details = await detailsOf(call);
      const form = await readForm(call.request);
      proofs.require(call.request, form, `login ${details.uid}`);
      if (form.get('do') === 'cancel') {
        await finishInteraction(
          call,
          { error: 'access_denied', error_description: 'the customer did not log in' },
          false,
        );
        return;
      }
      const username = form.get('username') ?? '';
      try {
        const customerId = await people.authenticate(username, form.get('password') ?? '', call.clientIp);
        await leaveOldSession(call, details, customerId);
        await finishInteraction(call, { login: { accountId: String(customerId) } }, false);
      } catch (error) {
        if (!(error instanceof AppError)) {
          throw error;
        }
        const { message: fault } = error;
        const page = loginPage(formOf(details, 'login'), await askingOf(details), { username, fault });
        const status = error.code === 'unauthorized' ? 422 : statusOf(error);
        sendPage(call.response, status, page, {
          headers: error.code === 'unauthorized' ? {} : headersOf(error),
          formTarget: targetOf(details),
        });
      }
    },

    async consent(call) {
      const details = await detailsOf(call);
      const form = await readForm(call.request);
      proofs.require(call.request, form, `consent ${details.uid}`);
      const question = await questionOf(details);
      if (form.get('do') !== 'allow' || question.granted.length === 0) {
        await finishInteraction(
          call,
          { error: 'access_denied', error_description: 'the customer did not allow it' },
          false,
        );
        return;
      }
      const known = details.grantId === undefined ? undefined : await provider.Grant.find(details.grantId);
      const grant =
        known ?? new provider.Grant({ accountId: String(question.customerId), clientId: question.clientId });
      grant.addOIDCScope(question.granted.join(' '));
      if (question.refused.length > 0) {
        grant.rejectOIDCScope(question.refused.join(' '));
      }
      await finishInteraction(call, { consent: { grantId: await grant.save() } }, true);
    },

    async showLogout(call) {
      const session = await sessionOf(call);
      const form =
        session.accountId === undefined
          ? null
          : { action: '/oauth/logout', token: proofs.tokenFor(`logout ${session.uid}`) };
      sendPage(call.response, 200, logoutPage(form, false));
    },

    async logout(call) {
      const session = await sessionOf(call);
      const form = await readForm(call.request);
      proofs.require(call.request, form, `logout ${session.uid}`);
      await session.destroy();
      sendPage(call.response, 200, logoutPage(null, true));
    },
  };
}

function denialOf({ awaitsApproval }: ConsentRequest): string {
  return awaitsApproval
    ? 'admin waits for the approval of an operator'
    : 'none of the scopes may be granted by this customer';
}

/** What a Content-Security-Policy calls the place where the application waits. */
function targetOf({ params }: Details): string | undefined {
  const url = URL.parse(String(params.redirect_uri));
  if (url === null) {
    return undefined;
  }
  // There is no way to write an IPv6 address there.
  const hasOrigin = ['http:', 'https:'].includes(url.protocol) && !url.hostname.startsWith('[');
  return hasOrigin ? url.origin : url.protocol;
}
