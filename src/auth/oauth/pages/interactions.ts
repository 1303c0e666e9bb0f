/** Login, consent and logout: shows the pages and handles their forms. */
import type { default as Provider, Session } from 'oidc-provider';
import { type Clock, machineTime } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { createCsrfTokens } from '../../../http/pages/csrf.ts';
import { readForm } from '../../../http/pages/form.ts';
import { redirectSeeOther, sendPage } from '../../../http/pages/send-page.ts';
import type { RawRequest } from '../../../http/raw-routes.ts';
import { toErrorHeaders, toErrorStatus } from '../../../http/responses/error-mapping.ts';
import { consoleClientId } from '../clients.ts';
import type { CustomerDirectory, Registration } from '../customer-directory.ts';
import type { ScopeApprovals } from '../scope-approvals.ts';
import { isScope, withheldReason } from '../scopes.ts';
import { type ConsentRequest, describeDenial, splitScopes } from './consent.ts';
import { type ClientInfo, consentPage, loginPage, logoutPage, type PageLayout } from './pages.ts';
import { parseRegistration, registerPage } from './register-page.ts';

interface Dependencies {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly directory: CustomerDirectory;
  /** null if customers cannot register. */
  readonly registration: Registration | null;
  /** Whether a customer can get a link for a new password by mail. */
  readonly hasForgotPassword: boolean;
  readonly approvals: ScopeApprovals;
  readonly page: PageLayout;
  readonly secret: string;
  readonly issuer: string;
}

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

export type Interactions = ReturnType<typeof createInteractions>;

export function createInteractions({
  provider,
  clock,
  directory,
  registration,
  hasForgotPassword,
  approvals,
  page: layout,
  secret,
  issuer,
}: Dependencies) {
  const csrfTokens = createCsrfTokens(secret, issuer);

  /** The interaction of the cookie, which must be that of the URL. @throws AppError badRequest, SessionNotFound of the library */
  async function detailsOf({ request, response, params }: RawRequest): Promise<Details> {
    const details = await provider.interactionDetails(request, response);
    if (details.uid !== params.uid) {
      throw new AppError('badRequest', 'The page belongs to another login.');
    }
    return details;
  }

  async function clientInfoOf({ params }: Details): Promise<ClientInfo> {
    const client = await provider.Client.find(String(params.client_id));
    const target = URL.parse(String(params.redirect_uri));
    return {
      name: client?.clientName ?? String(params.client_id),
      host: target?.host || target?.protocol || '',
    };
  }

  async function consentRequestOf(details: Details): Promise<ConsentRequest> {
    const customerId = Number(details.session?.accountId);
    const customer = await directory.find(customerId);
    if (customer === undefined) {
      throw new AppError('badRequest', 'The customer is gone.');
    }
    const clientId = String(details.params.client_id);
    const requested = String(details.params.scope).split(' ');
    const isApproved = requested.includes('admin') && (await approvals.isApproved(clientId, customerId));
    const client = await clientInfoOf(details);
    return {
      client,
      clientId,
      customer,
      customerId,
      ...splitScopes(requested, clientId, customer.role, isApproved),
    };
  }

  /** Stores the result and redirects to the authorization request, always on this server. */
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

  const registerPath = ({ uid, params }: Details) =>
    registration === null || params.client_id === consoleClientId
      ? null
      : `/oauth/interaction/${uid}/register`;
  const loginPath = ({ uid }: Details) => `/oauth/interaction/${uid}`;

  const formOf = (details: Details, page: 'login' | 'consent' | 'register') => ({
    action: `/oauth/interaction/${details.uid}/${page}`,
    token: csrfTokens.tokenFor(`${page} ${details.uid}`),
  });

  async function sessionOf({ request, response }: RawRequest): Promise<Session> {
    const context = provider.createContext(request, response);
    return provider.Session.get({ req: request, res: response, secure: context.secure } as never);
  }

  /** Ends the browser session of another customer, and detaches the interaction from it. */
  async function endSessionOfOther(raw: RawRequest, details: Details, customerId: number): Promise<void> {
    if (details.session === undefined || details.session.accountId === String(customerId)) {
      return;
    }
    await (await sessionOf(raw)).destroy();
    (details as { session?: unknown }).session = undefined;
    await details.save(details.exp - Math.floor(machineTime(clock) / 1000));
  }

  return {
    async show(raw: RawRequest) {
      const details = await detailsOf(raw);
      const formTarget = targetOf(details);
      if (details.prompt.name === 'login') {
        const page = loginPage(layout, formOf(details, 'login'), await clientInfoOf(details), {
          username: String(details.params.login_hint ?? ''),
          registerPath: registerPath(details),
          hasForgotPassword,
        });
        sendPage(raw.response, 200, page, { formTarget });
        return;
      }
      const consent = await consentRequestOf(details);
      const request = consent.awaitsApproval
        ? await approvals.request(consent.clientId, consent.customerId)
        : null;
      if (consent.granted.length === 0) {
        await finishInteraction(
          raw,
          { error: 'access_denied', error_description: describeDenial(consent) },
          false,
        );
        return;
      }
      const page = consentPage(layout, formOf(details, 'consent'), {
        client: consent.client,
        username: consent.customer.username,
        scopes: consent.granted.filter(isScope),
        withheld: consent.refused.map((scope) => ({ scope, reason: withheldReason(request) })),
      });
      sendPage(raw.response, 200, page, { formTarget });
    },

    async login(raw: RawRequest) {
      const details = await detailsOf(raw);
      const form = await readForm(raw.request);
      csrfTokens.require(raw.request, form, `login ${details.uid}`);
      if (form.get('do') === 'cancel') {
        await finishInteraction(
          raw,
          { error: 'access_denied', error_description: 'the customer did not log in' },
          false,
        );
        return;
      }
      const username = form.get('username') ?? '';
      try {
        const customerId = await directory.authenticate(username, form.get('password') ?? '', raw.clientIp);
        await endSessionOfOther(raw, details, customerId);
        await finishInteraction(raw, { login: { accountId: String(customerId) } }, false);
      } catch (error) {
        if (!(error instanceof AppError)) {
          throw error;
        }
        const { message } = error;
        const page = loginPage(layout, formOf(details, 'login'), await clientInfoOf(details), {
          username,
          error: message,
          registerPath: registerPath(details),
          hasForgotPassword,
        });
        const status = error.code === 'unauthorized' ? 422 : toErrorStatus(error);
        sendPage(raw.response, status, page, {
          headers: error.code === 'unauthorized' ? {} : toErrorHeaders(error),
          formTarget: targetOf(details),
        });
      }
    },

    async showRegistration(raw: RawRequest) {
      const details = await detailsOf(raw);
      const client = await clientInfoOf(details);
      const page = registerPage(layout, formOf(details, 'register'), client, {
        loginPath: loginPath(details),
      });
      sendPage(raw.response, 200, page, { formTarget: targetOf(details) });
    },

    async register(raw: RawRequest) {
      const details = await detailsOf(raw);
      const form = await readForm(raw.request);
      csrfTokens.require(raw.request, form, `register ${details.uid}`);
      const values = parseRegistration(form);
      try {
        const customerId = await (registration as Registration).register(values);
        await endSessionOfOther(raw, details, customerId);
        await finishInteraction(raw, { login: { accountId: String(customerId) } }, false);
      } catch (error) {
        if (!(error instanceof AppError)) {
          throw error;
        }
        const { errors } = error;
        const page = registerPage(layout, formOf(details, 'register'), await clientInfoOf(details), {
          values,
          errors,
          message: errors.length === 0 ? error.message : null,
          loginPath: loginPath(details),
        });
        const headers = toErrorHeaders(error);
        sendPage(raw.response, toErrorStatus(error), page, { headers, formTarget: targetOf(details) });
      }
    },

    async consent(raw: RawRequest) {
      const details = await detailsOf(raw);
      const form = await readForm(raw.request);
      csrfTokens.require(raw.request, form, `consent ${details.uid}`);
      const consent = await consentRequestOf(details);
      if (form.get('do') !== 'allow' || consent.granted.length === 0) {
        await finishInteraction(
          raw,
          { error: 'access_denied', error_description: 'the customer did not allow it' },
          false,
        );
        return;
      }
      const existing = details.grantId === undefined ? undefined : await provider.Grant.find(details.grantId);
      const grant =
        existing ?? new provider.Grant({ accountId: String(consent.customerId), clientId: consent.clientId });
      grant.addOIDCScope([...consent.granted, ...consent.pending].join(' '));
      const rejected = consent.refused.filter((scope) => !consent.pending.includes(scope));
      if (rejected.length > 0) {
        grant.rejectOIDCScope(rejected.join(' '));
      }
      const { resource = '' } = details.params as { resource?: string };
      if (resource !== '') {
        grant.addResourceScope(resource, consent.granted.join(' '));
        if (rejected.length > 0) {
          grant.rejectResourceScope(resource, rejected.join(' '));
        }
      }
      await finishInteraction(raw, { consent: { grantId: await grant.save() } }, true);
    },

    async showLogout(raw: RawRequest) {
      const session = await sessionOf(raw);
      const form =
        session.accountId === undefined
          ? null
          : { action: '/oauth/logout', token: csrfTokens.tokenFor(`logout ${session.uid}`) };
      sendPage(raw.response, 200, logoutPage(layout, form, false));
    },

    async logout(raw: RawRequest) {
      const session = await sessionOf(raw);
      const form = await readForm(raw.request);
      csrfTokens.require(raw.request, form, `logout ${session.uid}`);
      await session.destroy();
      sendPage(raw.response, 200, logoutPage(layout, null, true));
    },
  };
}

/** The origin or scheme of the redirect URI, as a source of a Content-Security-Policy. */
function targetOf({ params }: Details): string | undefined {
  const url = URL.parse(String(params.redirect_uri));
  if (url === null) {
    return undefined;
  }
  // A Content-Security-Policy has no notation for an IPv6 address.
  const hasOrigin = ['http:', 'https:'].includes(url.protocol) && !url.hostname.startsWith('[');
  return hasOrigin ? url.origin : url.protocol;
}
