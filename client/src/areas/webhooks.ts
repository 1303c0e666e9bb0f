import type { CallOptions, Outcome, WriteOptions } from '../options.ts';
import type { ListOf } from '../pages.ts';
import type { Body, Query, Result, WebhookDelivery, WebhookEndpoint } from '../types.ts';
import { Area } from './area.ts';

/** Webhook endpoints: URLs that get events. */
export class WebhookEndpoints extends Area {
  /** Lists the endpoints of all accounts, or of one. */
  list(filters?: Query<'listWebhookEndpoints'>, options?: CallOptions): ListOf<'listWebhookEndpoints'> {
    return this.api.listAll('/v2/webhook-endpoints', { query: filters }, options);
  }

  /** Registers a URL. The response contains the secret once. */
  create(
    endpoint: Body<'createWebhookEndpoint'>,
    options?: CallOptions,
  ): Promise<Result<'createWebhookEndpoint'>> {
    return this.api.post('/v2/webhook-endpoints', { body: endpoint }, options);
  }

  /** Returns an endpoint. */
  get(endpointId: number, options?: CallOptions): Promise<WebhookEndpoint> {
    return this.api.get('/v2/webhook-endpoints/{endpointId}', { path: { endpointId } }, options);
  }

  /** Changes the URL, the types or the description. */
  update<Options extends WriteOptions>(
    endpointId: number,
    changes: Body<'updateWebhookEndpoint'>,
    options?: Options,
  ): Promise<Outcome<Options, WebhookEndpoint>> {
    const path = { endpointId };
    return this.api.post('/v2/webhook-endpoints/{endpointId}', { path, body: changes }, options);
  }

  /** Deletes an endpoint and its deliveries. */
  delete<Options extends WriteOptions>(
    endpointId: number,
    options?: Options,
  ): Promise<Outcome<Options, void>> {
    return this.api.delete('/v2/webhook-endpoints/{endpointId}', { path: { endpointId } }, options);
  }

  /** Replaces the secret. Both sign until the overlap ends. The response contains the new one once. */
  rotateSecret(
    endpointId: number,
    rotation?: Body<'rotateWebhookEndpointSecret'>,
    options?: CallOptions,
  ): Promise<Result<'rotateWebhookEndpointSecret'>> {
    const path = { endpointId };
    return this.api.post(
      '/v2/webhook-endpoints/{endpointId}/rotate-secret',
      { path, body: rotation },
      options,
    );
  }

  /** Sends a test ping and returns what the receiver responded. */
  test(endpointId: number, options?: CallOptions): Promise<Result<'testWebhookEndpoint'>> {
    return this.api.post('/v2/webhook-endpoints/{endpointId}/test', { path: { endpointId } }, options);
  }

  /** Sends events again, from where the endpoint was disabled; with `skip` from now on. */
  enable<Options extends WriteOptions>(
    endpointId: number,
    enabling?: Body<'enableWebhookEndpoint'>,
    options?: Options,
  ): Promise<Outcome<Options, WebhookEndpoint>> {
    const path = { endpointId };
    return this.api.post('/v2/webhook-endpoints/{endpointId}/enable', { path, body: enabling }, options);
  }

  /** Makes due what waits for its next attempt, and ends a pause. Returns how many deliveries wait. */
  deliver<Options extends WriteOptions>(
    endpointId: number,
    options?: Options,
  ): Promise<Outcome<Options, Result<'deliverWebhookEndpoint'>>> {
    return this.api.post('/v2/webhook-endpoints/{endpointId}/deliver', { path: { endpointId } }, options);
  }

  /** Sends nothing more until the endpoint is enabled. */
  disable<Options extends WriteOptions>(
    endpointId: number,
    options?: Options,
  ): Promise<Outcome<Options, WebhookEndpoint>> {
    return this.api.post('/v2/webhook-endpoints/{endpointId}/disable', { path: { endpointId } }, options);
  }

  /** Sends the events of a range again. */
  replay<Options extends WriteOptions>(
    endpointId: number,
    range: Body<'replayWebhookEndpoint'>,
    options?: Options,
  ): Promise<Outcome<Options, Result<'replayWebhookEndpoint'>>> {
    const path = { endpointId };
    return this.api.post('/v2/webhook-endpoints/{endpointId}/replay', { path, body: range }, options);
  }
}

/** Deliveries of events to webhook endpoints. */
export class WebhookDeliveries extends Area {
  /** Lists the deliveries to an endpoint, the newest first. */
  list(
    endpointId: number,
    filters?: Query<'listWebhookDeliveries'>,
    options?: CallOptions,
  ): ListOf<'listWebhookDeliveries'> {
    const path = { endpointId };
    return this.api.list('/v2/webhook-endpoints/{endpointId}/deliveries', { path, query: filters }, options);
  }

  /** Returns a delivery with every attempt. */
  get(deliveryId: number, options?: CallOptions): Promise<WebhookDelivery> {
    return this.api.get('/v2/webhook-deliveries/{deliveryId}', { path: { deliveryId } }, options);
  }

  /** Sends the event of a delivery again. One that waits is due at once instead. */
  retry<Options extends WriteOptions>(
    deliveryId: number,
    options?: Options,
  ): Promise<Outcome<Options, Result<'retryWebhookDelivery'>>> {
    return this.api.post('/v2/webhook-deliveries/{deliveryId}/retry', { path: { deliveryId } }, options);
  }
}
