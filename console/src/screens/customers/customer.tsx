/** One customer: profile, tier, orders, and what an operator can do. */
import { Anchor, Badge, Button, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Result } from '../../../../client/src/index.ts';
import { useApi, useCurd, useSignedIn } from '../../data/queries.ts';
import { invalidate, readEffects, useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { LabelledValues } from '../../parts/labelled-values.tsx';
import { Notes, type NotesOf } from '../../parts/notes.tsx';
import { PageTitle, Read } from '../../parts/page.tsx';
import { NewestOrders } from '../../parts/tables/newest-orders.tsx';
import { shownName } from '../../parts/text/customer-name.ts';
import { showMoney } from '../../parts/text/format.ts';
import { Time } from '../../parts/text/time.tsx';
import { nextTier, tierColors, useThresholds } from './tiers.ts';

type Details = Result<'getCustomerById'>;

const back = { href: '/customers', text: 'All customers' };

export function CustomerDetail({ id }: { readonly id: number }) {
  const customer = useApi([`customer ${id}`], (curd) => curd.customers.getById(id));
  return (
    <Read of={customer} what="the customer" heading={<PageTitle title="Customer" back={back} />}>
      {(data) => (
        <>
          <PageTitle title={shownName(data.customer)} back={back}>
            <Badge variant="dot" color={data.role === 'staff' ? 'rind' : 'gray'}>
              {data.role}
            </Badge>
          </PageTitle>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Stack>
              <Profile details={data} />
              <Tier details={data} />
              <Notes key={id} of={notesOf(id)} />
              <Actions details={data} />
            </Stack>
            <Orders customerId={id} />
          </SimpleGrid>
        </>
      )}
    </Read>
  );
}

const notesOf = (id: number): NotesOf => ({
  key: `customer ${id}`,
  list: (curd) => curd.customers.listNotes(id, { limit: 100 }),
  create: (curd, text) => curd.customers.createNote(id, { text }),
});

function Profile({ details: { customer } }: { readonly details: Details }) {
  const { id, username, email, phone, favouriteCheese, createdAt } = customer;
  const rows = [
    ['Username', username],
    [
      'E-mail',
      <Group key="email" gap="xs">
        {email}
        <Anchor component={Link} href={`/mail?customer=${id}`} size="sm" aria-label="Mails to the customer">
          mails
        </Anchor>
      </Group>,
    ],
    ['Phone', phone ?? '-'],
    ['Favourite cheese', favouriteCheese?.name ?? '-'],
    ['Id', id],
    ['Since', <Time key="since" at={createdAt} />],
  ] as const;
  return (
    <section className="card" aria-label="Profile">
      <LabelledValues rows={rows} labelWidth="9rem" />
    </section>
  );
}

function Tier({ details: { customer, deliveredTotal } }: { readonly details: Details }) {
  const thresholds = useThresholds();
  const { customerStatus: tier } = customer;
  const next = thresholds === undefined ? undefined : nextTier(tier, deliveredTotal, thresholds);
  return (
    <section className="card" aria-label="Tier">
      <Group justify="space-between" mb={next === undefined ? 0 : 8}>
        <Badge variant="dot" color={tierColors[tier]}>
          {tier}
        </Badge>
        <Text size="sm">
          Lifetime value <b className="figure">{showMoney(deliveredTotal)}</b>
        </Text>
      </Group>
      {next === undefined ? null : (
        <>
          <Progress value={next.share} aria-label={`Progress to ${next.tier}`} />
          <Text size="sm" c="dimmed" mt={4}>
            {showMoney(next.missing)} of delivered orders to {next.tier}
          </Text>
        </>
      )}
    </section>
  );
}

function Orders({ customerId }: { readonly customerId: number }) {
  return (
    <NewestOrders
      of={{ customerId }}
      whenEmpty="Orders that this customer places appear here."
      showLinks={(hasMore) => (
        <Group gap="md">
          {hasMore ? (
            <Anchor component={Link} href={`/orders?view=list&customer=${customerId}`} size="sm">
              All orders
            </Anchor>
          ) : null}
          <Button size="xs" component={Link} href={`/orders/new?customer=${customerId}`}>
            New order
          </Button>
        </Group>
      )}
    />
  );
}

function Actions({ details: { customer, role } }: { readonly details: Details }) {
  const { id, username } = customer;
  const curd = useCurd();
  const { person } = useSignedIn();
  const [, navigate] = useLocation();
  const { run, isRunning } = useAction();
  const [dialog, setDialog] = useState<'role' | 'sessions' | 'delete' | null>(null);
  const [reset, setReset] = useState<Result<'createPasswordReset'> | null>(null);
  const otherRole = role === 'staff' ? 'customer' : 'staff';
  const isSelf = person.username === username;
  const close = () => setDialog(null);
  const changed = () => invalidate('customers', `customer ${id}`, 'events');

  return (
    <section className="card" aria-label="Actions">
      <Group gap="xs">
        <Button size="xs" color="red" variant="outline" onClick={() => setDialog('delete')}>
          Delete
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={isRunning}
          onClick={() =>
            void run(null, async () => {
              setReset(await curd.customers.createPasswordReset(id));
            })
          }
        >
          Password reset link
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('sessions')}>
          End sessions
        </Button>
        {isSelf ? null : (
          <Button size="xs" variant="default" onClick={() => setDialog('role')}>
            {otherRole === 'staff' ? 'Make staff' : 'Make customer'}
          </Button>
        )}
      </Group>
      {reset === null ? null : (
        <Stack mt="sm" gap={4}>
          <SecretOnce
            title={`A link for ${username} to set a new password`}
            secret={reset.url}
            onHidden={() => setReset(null)}
          />
          <Text size="sm" c="dimmed">
            Send it to the customer. It works once, until <Time at={reset.expiresAt} />.
          </Text>
        </Stack>
      )}
      {dialog === 'role' ? (
        <Confirm
          title={`Make ${username} ${otherRole}`}
          action={otherRole === 'staff' ? 'Make staff' : 'Make customer'}
          text={
            otherRole === 'staff'
              ? `${username} can then sign in to the console with their password, and change cheeses and stock. For the other screens, an operator must approve them under Approvals.`
              : `${username} loses the rights of staff, and can no longer sign in to the console. An approval of theirs under Approvals stays, and counts again if they become staff again: revoke it, too.`
          }
          onConfirm={async () => {
            await curd.customers.changeRole(id, { role: otherRole });
            await changed();
          }}
          onClose={close}
        />
      ) : null}
      {dialog === 'sessions' ? (
        <Confirm
          title={`End the sessions of ${username}`}
          action="End sessions"
          text="The customer must log in again in every browser."
          readEffects={() => readEffects((options) => curd.customers.endSessions(id, options))}
          onConfirm={async () => {
            await curd.customers.endSessions(id);
            await changed();
          }}
          onClose={close}
        />
      ) : null}
      {dialog === 'delete' ? (
        <Confirm
          title={`Delete ${username}`}
          action="Delete"
          typed={username}
          text="The profile is deleted for good. Orders stay, without the name."
          readEffects={() => readEffects((options) => curd.customers.delete(username, options))}
          onConfirm={async () => {
            await curd.customers.delete(username);
            navigate('/customers');
            await invalidate('customers', 'orders', 'events');
          }}
          onClose={close}
        />
      ) : null}
    </section>
  );
}
