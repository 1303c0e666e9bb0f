/** The member `bounds` of GET /limits, collected from the files that enforce each limit. */
import { keyLimits, kindsOfKeys } from '../auth/keys/kinds.ts';
import { authorizeQueryBytesMax } from '../auth/oauth/provider/authorize-request.ts';
import { sessionsMax } from '../auth/sessions/service.ts';
import { importBytesMax, importRowsMax } from '../catalogue-import/routes.ts';
import { cheeseListQuery } from '../cheeses/listing/routes.ts';
import { CheeseInput } from '../cheeses/schemas.ts';
import { customerBatchMax } from '../customers/schemas.ts';
import { wrongCodesMax } from '../discounts/wrong-codes.ts';
import { errorsMax } from '../errors.ts';
import { formFieldsMax } from '../http/bodies/body.ts';
import { bodyBytesMax, headerBytesMax } from '../http/bodies/size-limits.ts';
import { uploadsMax, uploadsOfPrincipalMax } from '../http/bodies/uploads.ts';
import { keyLengthMax } from '../http/pipeline/idempotency-key.ts';
import { jpegPixelsMax, pixelsMax } from '../images/renderer.ts';
import { imageBytesMax } from '../images/routes.ts';
import { imagesMax } from '../images/service.ts';
import { dryRunChangesPerSecond } from '../limits/dry-run-limits.ts';
import { OrderInput } from '../orders/placing/schemas.ts';
import { quantity } from '../orders/schemas.ts';
import { depthMax, valuesMax } from '../schema/json-bounds.ts';
import type { Config } from '../settings/config.ts';
import { idempotencyHours } from '../stored-responses/store.ts';
import { openMax } from '../webhooks/delivery/delivery-order.ts';
import { pingsMax } from '../webhooks/delivery/manual-attempts.ts';
import { urlCharactersMax } from '../webhooks/schemas.ts';
import { endpointsMax } from '../webhooks/service.ts';

/** Limits by name. The name contains the unit, except for numbers of items. */
export function publishedLimits({
  catalogueMax,
  connectionsMax,
  streams,
  streamsPerAccount,
  passwordLengthMin,
  headersTimeoutMs,
  requestTimeoutMs,
  uploadTimeoutMs,
  idleTimeoutMs,
}: Config): Record<string, number> {
  const { photoUrls, tags, name } = CheeseInput.properties;
  return {
    pageItems: cheeseListQuery.limit.maximum,
    pageItemsByDefault: cheeseListQuery.limit.default,
    filterTags: cheeseListQuery.tags.maxItems,
    searchCharacters: cheeseListQuery.q.maxLength,
    cheeses: catalogueMax,
    cheeseNameCharacters: name.maxLength,
    cheeseTags: tags.maxItems,
    cheesePhotoUrls: photoUrls.maxItems,
    cheeseImages: imagesMax,
    imageBytes: imageBytesMax,
    imagePixels: pixelsMax,
    imagePixelsOfJpeg: jpegPixelsMax,
    importBytes: importBytesMax,
    importRows: importRowsMax,
    uploadsAtOnce: uploadsMax,
    uploadsOfACredentialAtOnce: uploadsOfPrincipalMax,
    orderItems: OrderInput.properties.items.maxItems,
    orderItemKilograms: quantity.maximum,
    customersInABatch: customerBatchMax,
    sessionsOfACustomer: sessionsMax,
    passwordCharactersAtLeast: passwordLengthMin,
    activeKeysOfAnAccount: kindsOfKeys.secret.activeMax,
    publishableKeysOfAnAccount: kindsOfKeys.publishable.activeMax,
    restrictedKeysOfAnAccount: kindsOfKeys.restricted.activeMax,
    cheesesOfAKey: keyLimits.cheeseIds.maxItems,
    categoriesOfAKey: keyLimits.categories.maxItems,
    networksOfAKey: keyLimits.addresses.maxItems,
    originsOfAKey: keyLimits.origins.maxItems,
    webhookEndpointsOfAnAccount: endpointsMax,
    webhookUrlCharacters: urlCharactersMax,
    webhookDeliveriesWaiting: openMax,
    webhookTestPingsAMinute: pingsMax,
    wrongDiscountCodesAnHour: wrongCodesMax,
    dryRunChangesASecond: dryRunChangesPerSecond,
    idempotencyKeyCharacters: keyLengthMax,
    idempotencyHours,
    authorizationBytes: authorizeQueryBytesMax,
    bodyBytes: bodyBytesMax,
    bodyDepth: depthMax,
    bodyValues: valuesMax,
    formFields: formFieldsMax,
    validationErrorsInAResponse: errorsMax,
    headerBytes: headerBytesMax,
    connectionsAtOnce: connectionsMax,
    streams,
    streamsPerAccount,
    headersTimeoutSeconds: headersTimeoutMs / 1000,
    requestTimeoutSeconds: requestTimeoutMs / 1000,
    uploadTimeoutSeconds: uploadTimeoutMs / 1000,
    idleTimeoutSeconds: idleTimeoutMs / 1000,
  };
}
