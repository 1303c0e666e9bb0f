/** The command palette: screens, actions, and cheeses, orders and customers by id or name. */
import { useMantineColorScheme } from '@mantine/core';
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useSignedIn } from './queries.ts';
import { screens } from './screens/list.ts';
import { signOut } from './session.ts';

export const openPalette = (): void => spotlight.open();

const foundMax = 5;

export function Palette() {
  const { curd, person } = useSignedIn();
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const query = text.trim();
  const { toggleColorScheme } = useMantineColorScheme();

  const { data: found = [] } = useQuery({
    queryKey: ['palette', query],
    enabled: query.length > 0,
    // A text that is typed further cancels what was read for the text before.
    queryFn: async ({ signal }): Promise<SpotlightActionData[]> => {
      const id = /^[1-9]\d{0,14}$/.test(query) ? Number(query) : null;
      const byId = <T,>(read: (id: number) => PromiseLike<T>): Promise<T | null> =>
        id === null ? Promise.resolve(null) : Promise.resolve(read(id)).catch(() => null);
      const { isAdmin } = person;
      const [cheese, named, order, customer, known] = await Promise.all([
        byId((one) => curd.cheeses.get(one, { signal })),
        curd.cheeses.list({ q: query, limit: foundMax }, { signal }).then(
          ({ items }) => items,
          () => [],
        ),
        isAdmin ? byId((one) => curd.orders.get(one, { signal })) : null,
        isAdmin ? byId((one) => curd.customers.getById(one, { signal })) : null,
        isAdmin
          ? curd.customers.list({ q: query, limit: foundMax }, { signal }).then(
              ({ items }) => items,
              () => [],
            )
          : [],
      ]);
      const cheeses = [...(cheese === null ? [] : [cheese]), ...named.filter(({ id }) => id !== cheese?.id)];
      const customers = [
        ...(customer === null ? [] : [customer]),
        ...known.filter((one) => one.customer.id !== customer?.customer.id),
      ];
      return [
        ...(order === null
          ? []
          : [
              {
                id: `order ${order.id}`,
                label: `Order ${order.id}`,
                description: order.status,
                onClick: () => navigate(`/orders/${order.id}`),
              },
            ]),
        ...cheeses.map(({ id, name, category }) => ({
          id: `cheese ${id}`,
          label: name,
          description: `${category?.name ?? 'Cheese'}, ${id}`,
          onClick: () => navigate(`/cheeses/${id}`),
        })),
        ...customers.map(({ customer }) => ({
          id: `customer ${customer.id}`,
          label: customer.username,
          description: customer.email,
          onClick: () => navigate(`/customers/${customer.id}`),
        })),
      ];
    },
  });

  const actions: SpotlightActionData[] = [
    ...screens
      .filter(({ isForStaff }) => person.isAdmin || isForStaff)
      .map(({ path, title, icon: Icon }) => ({
        id: `screen ${title}`,
        label: title,
        description: 'Screen',
        leftSection: <Icon />,
        onClick: () => navigate(`/${path}`),
      })),
    {
      id: 'new cheese',
      label: 'New cheese',
      description: 'Action',
      onClick: () => navigate('/cheeses/new'),
    },
    {
      id: 'light or dark',
      label: 'Light or dark',
      description: 'Action',
      onClick: () => toggleColorScheme(),
    },
    { id: 'sign out', label: 'Sign out', description: 'Action', onClick: () => void signOut() },
  ].filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()));

  const shown = [...actions, ...found];
  const [first] = shown;

  return (
    <Spotlight.Root
      transitionProps={{ duration: 0 }}
      overlayProps={{ blur: 0 }}
      shortcut="mod + K"
      query={text}
      onQueryChange={setText}
      scrollable
      maxHeight={420}
    >
      <Spotlight.Search
        placeholder="A screen, an action, a cheese, an order, a customer"
        aria-label="Search and do"
        onKeyDown={({ key, currentTarget }) => {
          const isChosen = currentTarget.closest('[role=dialog]')?.querySelector('[data-selected]') !== null;
          if (key === 'Enter' && !isChosen && first !== undefined) {
            first.onClick?.({} as never);
            spotlight.close();
          }
        }}
      />
      <Spotlight.ActionsList>
        {shown.map((action) => (
          <Spotlight.Action key={action.id} {...action} />
        ))}
        {shown.length === 0 ? <Spotlight.Empty>Nothing was found</Spotlight.Empty> : null}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}
