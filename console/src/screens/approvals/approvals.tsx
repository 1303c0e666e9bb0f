/** Requests for the scope admin: an inbox. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Result } from '../../../../client/src/index.ts';
import { useCurd, useList } from '../../data/queries.ts';
import { readEffects, useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Column } from '../../parts/tables/table-row.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { Time } from '../../parts/text/time.tsx';

type Approval = Result<'listApprovals'>['items'][number];

const colors = { pending: 'orange', approved: 'green', denied: 'red', revoked: 'gray' } as const;

const nameOf = ({ clientName, username }: Approval) =>
  username === null ? `${clientName}, for itself` : `${clientName} and ${username}`;

const columnsOf = (onRevoke: (approval: Approval) => void): readonly Column<Approval>[] => [
  { title: 'Request', show: ({ id }) => id },
  { title: 'Client', show: ({ clientName }) => clientName },
  {
    title: 'User',
    show: ({ username, clientId }) => username ?? (clientId === 'console' ? 'operator' : 'none: for itself'),
  },
  { title: 'Requested', show: ({ requestedAt }) => <Time at={requestedAt} isRelative /> },
  {
    title: 'Status',
    show: ({ status }) => (
      <Badge variant="dot" color={colors[status]}>
        {status}
      </Badge>
    ),
  },
  {
    title: 'Decided',
    isWideOnly: true,
    show: ({ decidedAt, decidedBy, expiresAt }) =>
      decidedAt === null ? (
        '-'
      ) : (
        <Stack gap={0}>
          <Text size="sm">
            <Time at={decidedAt} isRelative /> by {decidedBy === null ? '' : <Actor actor={decidedBy} />}
          </Text>
          {expiresAt === null ? null : (
            <Text size="xs" c="dimmed">
              ends <Time at={expiresAt} />
            </Text>
          )}
        </Stack>
      ),
  },
  {
    title: 'Actions',
    show: (approval) => <Decide approval={approval} onRevoke={onRevoke} />,
  },
];

interface DecideProps {
  readonly approval: Approval;
  readonly onRevoke: (approval: Approval) => void;
}

function Decide({ approval, onRevoke }: DecideProps) {
  const curd = useCurd();
  const { run, isRunning } = useAction();
  const decide = (verb: 'approve' | 'deny', done: string) =>
    void run(`${nameOf(approval)}: ${done}.`, () => curd.approvals[verb](approval.id), 'approvals');
  return (
    <Group gap="xs" justify="flex-end">
      {approval.status === 'approved' ? (
        <Button size="compact-sm" variant="subtle" color="red" onClick={() => onRevoke(approval)}>
          Revoke
        </Button>
      ) : (
        <>
          {approval.status === 'pending' ? (
            <Button
              size="compact-sm"
              variant="default"
              disabled={isRunning}
              onClick={() => decide('deny', 'denied')}
            >
              Deny
            </Button>
          ) : null}
          <Button
            size="compact-sm"
            disabled={isRunning}
            onClick={() => decide('approve', 'approved for 90 days')}
          >
            Approve
          </Button>
        </>
      )}
    </Group>
  );
}

const byStatusAndTime = (one: Approval, other: Approval) =>
  Number(other.status === 'pending') - Number(one.status === 'pending') ||
  other.requestedAt.localeCompare(one.requestedAt);

export default function Approvals() {
  const curd = useCurd();
  const [revoked, setRevoked] = useState<Approval | null>(null);
  const list = useList(['approvals', 'all'], (api) => api.approvals.list());
  return (
    <ListScreen
      title="Approvals"
      label="Requests for the scope admin"
      what="approvals"
      list={list}
      rows={list.rows.toSorted(byStatusAndTime)}
      columns={columnsOf(setRevoked)}
      keyOf={({ id }) => id}
      nameOf={nameOf}
      filters={
        <Text size="sm" c="dimmed" mb="sm">
          An application gets the scope admin for a person after an operator has approved both together.
          Approvals end after 90 days.
        </Text>
      }
      empty={
        <Empty title="No requests yet">
          A request appears here when staff sign in to the console, or when an OAuth client asks for the scope
          admin.
        </Empty>
      }
    >
      {revoked === null ? null : (
        <Confirm
          title={`Revoke request ${revoked.id}`}
          action="Revoke"
          text={`${nameOf(revoked)}: every token of the two ends at once.`}
          readEffects={() => readEffects((options) => curd.approvals.revoke(revoked.id, options))}
          onConfirm={async () => {
            await curd.approvals.revoke(revoked.id);
            await list.refetch();
          }}
          onClose={() => setRevoked(null)}
        />
      )}
    </ListScreen>
  );
}
