/** Short names for the types of `schema.ts`. */
import type { components, operations } from './schema.ts';

export type Schemas = components['schemas'];

export type Address = Schemas['Address'];
export type ApiKey = Schemas['ApiKey'];
export type Cheese = Schemas['Cheese'];
/** A cheese as it is now, or that it was deleted. */
export type CheeseChange =
  | (ChangeFields & { deleted: true; cheese?: never })
  | (ChangeFields & { deleted: false; cheese: Cheese });
type ChangeFields = Omit<Schemas['CheeseChange'], 'deleted' | 'cheese'>;
export type CheeseImage = Schemas['CheeseImage'];
export type Customer = Schemas['Customer'];
/** An event. `type` decides what `data` contains. */
export type CurdEvent = Schemas['Event'];
/** A type of events of this version. A newer server may send others. */
export type EventType = CurdEvent['type'];
/** A type, or all types of a kind: `order.*`. */
export type EventPattern = EventType | KindOf<EventType>;
type KindOf<Type> = Type extends `${infer Kind}.${string}` ? `${Kind}.*` : never;
export type Order = Schemas['Order'];
export type OrderItem = Schemas['OrderItem'];
export type Stock = Schemas['Stock'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookEndpoint = Schemas['WebhookEndpoint'];

type JsonOf<C> = C extends { content: { 'application/json': infer Body } } ? Body : never;

/** Parameters in the path. */
export type PathOf<O> = O extends { parameters: { path: infer P } } ? { path: P } : unknown;

/** Parameters in the query. */
export type QueryOf<O> = O extends { parameters: { query?: infer Q } }
  ? { [K in keyof Q]: Q[K] | undefined }
  : never;

/** The member `body` of a request. */
export type BodyOption<O> = O extends { requestBody: infer B }
  ? { body: JsonOf<B> }
  : O extends { requestBody?: infer B }
    ? { body?: JsonOf<NonNullable<B>> | undefined }
    : unknown;

type SuccessOf<O> = O extends { responses: infer R } ? R[keyof R & (200 | 201 | 202 | 204)] : never;

type JsonOrNothing<R> = R extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The JSON body of a successful response; undefined for 204. */
export type ResultOf<O> = JsonOrNothing<SuccessOf<O>>;

/** The query of an operation: the filters of a list. */
export type Query<Name extends keyof operations> = QueryOf<operations[Name]>;

/** The JSON body that an operation needs. */
export type Body<Name extends keyof operations> = NonNullable<
  (BodyOption<operations[Name]> & { body?: unknown })['body']
>;

/** The result of an operation. */
export type Result<Name extends keyof operations> = ResultOf<operations[Name]>;
