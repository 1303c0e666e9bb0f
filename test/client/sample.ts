/**
 * The sample of docs/client.md, and uses that the types must refuse. This file is compiled, and not run. A line after
 * `@ts-expect-error` that compiles is an error.
 */
import { Curd, isCurdError } from '@curd/client';
import { clientCredentials, signIn } from '@curd/client/oauth';
import { verify, WebhookRefused } from '@curd/client/webhooks';

declare const process: { readonly env: Record<string, string | undefined> };
declare const bar: (part: number) => void;
declare const loadPosition: () => Promise<string | undefined>;
declare const savePosition: (id: string) => Promise<void>;
declare const notifyCustomer: (orderId: number, total: number) => Promise<void>;
declare const handleEvent: (event: object) => Promise<boolean>;
