/** Accounts, API keys and OAuth clients. */
import { Tabs } from '@mantine/core';
import { useLocation } from 'wouter';
import { PageTitle } from '../../parts/page.tsx';
import type { ScreenProps } from '../../parts/screen.ts';
import { AccountDetail } from './account.tsx';
import { Accounts } from './accounts.tsx';
import { OauthClients } from './oauth-clients.tsx';

export default function Access({ id }: ScreenProps) {
  const [, navigate] = useLocation();
  if (id !== undefined && id !== 'clients') {
    return <AccountDetail id={Number(id)} />;
  }
  const tab = id ?? 'accounts';
  return (
    <>
      <PageTitle title="Access" />
      <Tabs value={tab} onChange={(next) => navigate(next === 'clients' ? '/access/clients' : '/access')}>
        <Tabs.List mb="md">
          <Tabs.Tab value="accounts">Accounts and API keys</Tabs.Tab>
          <Tabs.Tab value="clients">OAuth clients</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="accounts">{tab === 'accounts' ? <Accounts /> : null}</Tabs.Panel>
        <Tabs.Panel value="clients">{tab === 'clients' ? <OauthClients /> : null}</Tabs.Panel>
      </Tabs>
    </>
  );
}
