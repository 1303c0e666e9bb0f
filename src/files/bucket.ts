/**
 * Files in a bucket of Amazon S3, or of another storage with its protocol. Endpoint, region and credentials come from
 * the usual environment variables of AWS clients: AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_ACCESS_KEY_ID ...
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { type Files, storageFailure } from './files.ts';

/** Opens a bucket. Keys are `prefix` + name. The prefix ends in a slash or is empty. */
export function openBucket(bucket: string, prefix: string): Files {
  const client = new S3Client({
    // The bucket name is in the path: every server supports that, and a host name with dots fails certificate checks.
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 3000,
      // Time without any data.
      socketTimeout: 3000,
      requestTimeout: 60_000,
      throwOnRequestTimeout: true,
    },
  });

  return {
    async put(name, path, mediaType) {
      const content = createReadStream(path);
      try {
        const { size } = await stat(path);
        await client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: prefix + name,
            Body: content,
            ContentLength: size,
            ContentType: mediaType,
            CacheControl: 'public, max-age=31536000, immutable',
          }),
        );
      } catch (error) {
        throw storageFailure(error);
      } finally {
        content.destroy();
      }
    },

    async read(name, range) {
      const Range = range === null ? undefined : `bytes=${range.first}-${range.last}`;
      try {
        const { Body } = await client.send(
          new GetObjectCommand({ Bucket: bucket, Key: prefix + name, Range }),
        );
        return Body as Readable;
      } catch (error) {
        if (error instanceof NoSuchKey) {
          return null;
        }
        throw storageFailure(error);
      }
    },

    async *list() {
      try {
        for await (const { Contents = [] } of paginateListObjectsV2(
          { client },
          { Bucket: bucket, Prefix: prefix },
        )) {
          yield* Contents.map(({ Key = '' }) => Key.slice(prefix.length));
        }
      } catch (error) {
        throw storageFailure(error);
      }
    },

    async delete(name) {
      try {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: prefix + name }));
      } catch (error) {
        throw storageFailure(error);
      }
    },
  };
}
