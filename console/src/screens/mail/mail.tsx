/** The mails to customers, the newest first. */
import { Alert, Anchor, Code, Text } from '@mantine/core';
import { useApi, useCurd } from '../../data/queries.ts';
import { shopCommand } from '../../environment.ts';
import { ListScreen } from '../../parts/list-screen.tsx';
import { Empty } from '../../parts/page.tsx';
import { useNewestFirst } from '../../parts/tables/newest-first.ts';
import type { Column } from '../../parts/tables/table-row.tsx';
import { showNumber } from '../../parts/text/format.ts';
import { Subject } from '../../parts/text/subject.tsx';
import { Time } from '../../parts/text/time.tsx';
import { asId, useUrlFilters, useUrlValue } from '../../parts/url-filters.ts';
import { filterReaders, MailFilters } from './filters.tsx';
import { MailDrawer } from './mail-drawer.tsx';
import { type Mail, NextAttempt, StateBadge } from './state.tsx';

const statusMs = 15_000;

function columnsOf(open: (id: number) => void): Column<Mail>[] {
  return [
    { title: 'Time', show: ({ createdAt }) => <Time at={createdAt} isExact /> },
    {
      title: 'Mail',
      show: ({ id, mail }) => (
        <Anchor component="button" type="button" size="sm" className="one-line" onClick={() => open(id)}>
          {mail}
        </Anchor>
      ),
    },
    {
      title: 'State',
      show: (mail) => (
        <div>
          <StateBadge mail={mail} />
          <NextAttempt mail={mail} />
        </div>
      ),
    },
    { title: 'Customer', show: ({ customerId }) => <Subject subject={`customer:${customerId}`} /> },
    {
      title: 'Order',
      show: ({ orderId }) =>
        orderId === null ? (
          '-'
        ) : (
          <span className="one-line">
            <Subject subject={`order:${orderId}`} />
          </span>
        ),
    },
    { title: 'Attempts', isNumber: true, show: ({ attempts }) => showNumber(attempts) },
    { title: 'Reason', show: ({ reason }) => reason ?? '-' },
  ];
}

/** The transport of mails, and why none are sent. */
function Transport() {
  const { data } = useApi(['status', 'mail'], (curd, signal) => curd.status.get({ signal }), statusMs);
  if (data === undefined) {
    return null;
  }
  const { transport, folder, paused, fault } = data.mail;
  return (
    <>
      {transport === 'file' ? (
        <Text size="sm" mb="sm" style={{ overflowWrap: 'anywhere' }}>
          No mail server is set. Each mail is an .eml file in <b>{folder}</b>.
        </Text>
      ) : null}
      {transport === 'off' ? (
        <Text size="sm" mb="sm">
          Mail is off, so nothing is sent. Set CURD_MAIL, and start the server again.
        </Text>
      ) : null}
      {paused ? (
        <Alert color="yellow" variant="light" mb="sm" title="Mails wait">
          The shop was copied or restored, so the shop that it comes from may send them. Run{' '}
          <b>{shopCommand} mail resume</b> to send them, or <b>{shopCommand} mail discard</b> to send none of
          them.
        </Alert>
      ) : null}
      {fault === null ? null : (
        <Alert color="red" variant="light" mb="sm" title="No mail can be sent">
          {fault}
        </Alert>
      )}
      {transport === 'off' ? null : (
        <Text size="xs" c="dimmed" mb="sm">
          To change what a mail says: <Code>{shopCommand} mail templates export templates</Code>, then start
          the server with CURD_MAIL_TEMPLATES=templates.
        </Text>
      )}
    </>
  );
}

export default function MailScreen() {
  const curd = useCurd();
  const { filters, change, isFiltered } = useUrlFilters(filterReaders, 'push');
  const { state, customer: customerId, order: orderId } = filters;
  const [open, show] = useUrlValue('mail', asId);
  const list = useNewestFirst(['mail', filters], (cursor, signal) =>
    curd.mails.list({ state, customerId, orderId, cursor, limit: 50 }, { signal }),
  );
  return (
    <ListScreen<Mail>
      title="Mail"
      label="Mails"
      what="mails"
      list={list}
      columns={columnsOf(show)}
      keyOf={({ id }) => id}
      nameOf={({ id, mail }) => `mail ${id}, ${mail}`}
      onOpen={({ id }) => show(id)}
      filters={
        <>
          <Transport />
          <MailFilters filters={filters} onChange={change} />
        </>
      }
      empty={
        <Empty title={isFiltered ? 'No such mails' : 'No mails yet'}>
          Mails about orders and accounts of customers appear here, for 30 days after they ended. Orders that
          an API key placed alone cause none.
        </Empty>
      }
    >
      {open === undefined ? null : (
        <MailDrawer
          key={open}
          id={open}
          listed={list.rows.find(({ id }) => id === open)}
          onClose={() => show(null)}
        />
      )}
    </ListScreen>
  );
}
