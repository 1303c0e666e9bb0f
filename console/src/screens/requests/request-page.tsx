/** The requests with one id: what they wanted, who sent them, the parts of their time, and their results. */
import './requests.css';
import { Anchor, Badge, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Result } from '../../../../client/src/index.ts';
import { useApi } from '../../data/queries.ts';
import { PageTitle, Read } from '../../parts/page.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { CredentialLink } from './credential-link.tsx';
import { PartsBar } from './parts-bar.tsx';
import { ResponseStatus } from './response-status.tsx';

type Kept = Result<'getRequest'>['items'][number];

export function RequestPage({ id }: { readonly id: string }) {
  const requests = useApi(['requests', 'one', id], (curd, signal) => curd.requests.get(id, { signal }));
  return (
    <>
      <PageTitle title={`Request ${id}`} back={{ href: '/requests', text: 'All requests' }} />
      <Read of={requests} what="the request">
        {({ items }) => (
          <Stack>
            {items.length > 1 ? (
              <Text size="sm" c="dimmed">
                {showNumber(items.length)} requests have this id, the newest first: clients choose ids.
              </Text>
            ) : null}
            {items.map((item) => (
              <OneRequest
                key={`${item.at} ${item.instance} ${item.route} ${item.milliseconds}`}
                item={item}
              />
            ))}
          </Stack>
        )}
      </Read>
    </>
  );
}

function OneRequest({ item }: { readonly item: Kept }) {
  const { at, instance, method, route, ids, status, error, errors, limits, access, events } = item;
  const title = `${method} ${route ?? '(no such path)'}`;
  const marks = [
    ...(item.dryRun ? ['dry run'] : []),
    ...(item.simulated ? ['simulated'] : []),
    ...(item.ignoredMembers === undefined ? [] : [`${showNumber(item.ignoredMembers)} unknown fields`]),
    ...(item.idempotency.replayed ? ['replayed'] : item.idempotency.used ? ['idempotency key'] : []),
  ];
  return (
    <section className="card" aria-label={title}>
      <Group gap="sm" mb="sm">
        <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        <ResponseStatus status={status} />
        <Text size="sm">
          <Time at={at} isExact />
        </Text>
        {marks.map((mark) => (
          <Badge key={mark} variant="outline" color="gray">
            {mark}
          </Badge>
        ))}
      </Group>
      <PartsBar milliseconds={item.milliseconds} parts={item.parts} />
      <dl className="facts" style={{ marginTop: 12 }}>
        <Fact title="Instance">{instance}</Fact>
        {Object.entries(ids).map(([name, value]) => (
          // Digits are not grouped, because the number is a part of the path.
          <Fact key={name} title={name}>
            {String(value)}
          </Fact>
        ))}
        <CredentialFacts item={item} />
        <Fact title="Needs one of">{access.requires.join(', ') || 'nothing'}</Fact>
        {access.missing.length > 0 ? <Fact title="Missing">{access.missing.join(', ')}</Fact> : null}
        <Fact title="Plan">{limits.plan ?? '-'}</Fact>
        {limits.hour === null ? null : (
          <Fact title="Left in this hour">
            {showNumber(limits.hour.remaining)} of {showNumber(limits.hour.limit)}
          </Fact>
        )}
        {limits.refusedBy === null ? null : <Fact title="Refused by limit">{limits.refusedBy}</Fact>}
        {item.traceId === null ? null : <Fact title="Trace">{item.traceId}</Fact>}
      </dl>
      {error === null ? null : (
        <Text size="sm" mt="sm">
          <strong>{error.type}:</strong> {error.message}
        </Text>
      )}
      {errors.length === 0 ? null : <Errors item={item} />}
      {events.length === 0 ? null : <Events events={events} />}
    </section>
  );
}

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function CredentialFacts({ item: { credential } }: { readonly item: Kept }) {
  if (credential === null) {
    return <Fact title="Credential">none that is valid</Fact>;
  }
  return (
    <>
      <Fact title="Credential">
        <CredentialLink id={credential.id} account={credential.account} />
      </Fact>
      {credential.account === null ? null : (
        <Fact title="Account">
          <Subject subject={credential.account} />
        </Fact>
      )}
      {credential.actsFor === null ? null : (
        <Fact title="For">
          <Subject subject={credential.actsFor} />
        </Fact>
      )}
      <Fact title="Scopes">{credential.scopes.join(', ') || 'read only'}</Fact>
    </>
  );
}

function Errors({ item: { errors, moreErrors = 0 } }: { readonly item: Kept }) {
  return (
    <>
      <Table aria-label="Errors" mt="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Field</Table.Th>
            <Table.Th>Message</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {errors.map(({ field, message }) => (
            <Table.Tr key={`${field} ${message}`}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{field}</Table.Td>
              <Table.Td>{message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {moreErrors > 0 ? (
        <Text size="sm" c="dimmed">
          {showNumber(moreErrors)} more were not kept.
        </Text>
      ) : null}
    </>
  );
}

function Events({ events }: Pick<Kept, 'events'>) {
  return (
    <>
      <Title order={3} size="h6" mt="sm">
        Events
      </Title>
      <ul aria-label="Events" style={{ margin: 0 }}>
        {events.map(({ id, type }) => (
          <li key={id}>
            <Anchor component={Link} href={`/events?event=${id}`} size="sm" title={id} underline="always">
              {type}
            </Anchor>
          </li>
        ))}
      </ul>
    </>
  );
}
