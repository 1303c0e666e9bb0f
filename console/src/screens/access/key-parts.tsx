/** What the list of keys and the page of a key both show. */
import { Badge, Text } from '@mantine/core';
import type { ApiKey } from '../../../../client/src/index.ts';
import { Copyable } from '../../parts/text/copyable.tsx';
import { Time } from '../../parts/text/time.tsx';

export const keyName = ({ name, last4 }: Pick<ApiKey, 'name' | 'last4'>) => name ?? `key …${last4}`;

export const pathOfKey = (accountId: number, { id }: ApiKey) => `/access/${accountId}?key=${id}`;

interface Props {
  readonly apiKey: ApiKey;
}

export function KindBadge({ apiKey: { kind } }: Props) {
  return (
    <Badge size="sm" variant="default" tt="none">
      {kind}
    </Badge>
  );
}

/** The id and the end of a key, or the whole key if it is no secret. */
export function ShownKey({ apiKey: { id, type, last4, key } }: Props) {
  return (
    <Text size="sm" className="shown-key">
      key:{id} ({type}, …{last4})
      {key === undefined ? null : (
        <>
          <br />
          <Copyable value={key}>{key}</Copyable>
        </>
      )}
    </Text>
  );
}

/** Everybody who opened the page can have copied the key. */
export function PageWarning({ apiKey: { webOrigin, webOriginAt } }: Props) {
  return webOrigin === undefined || webOriginAt === undefined ? null : (
    <Text size="sm" className="key-warning">
      Used from a web page: {webOrigin}, <Time at={webOriginAt} isRelative />. Rotate it.
    </Text>
  );
}
