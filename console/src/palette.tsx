/** The command palette: screens, actions, and cheeses, orders and customers by id or name. */
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useSignedIn } from './queries.ts';
import { screens } from './screens/list.ts';

export const openPalette = (): void => spotlight.open();

const foundMax = 5;

export function Palette() {
  const { curd, person } = useSignedIn();
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const query = text.trim();

  const { data: found = [] } = useQuery({
    queryKey: ['palette', query],
    enabled: query.length > 0,
    queryFn: async (): Promise<SpotlightActionData[]> => {
      const isId = /^\d{1,15}$/.test(query);
      const [cheeses, order, customers] = await Promise.all([
        curd.cheeses.list({ q: query, limit: foundMax }).then(
          ({ items }) => items,
          () => [],
        ),
        isId && person.isAdmin ? curd.orders.get(Number(query)).catch(() => null) : Promise.resolve(null),
        person.isAdmin
          ? curd.customers.list({ q: query, limit: foundMax }).then(
              ({ items }) => items,
              () => [],
            )
          : [],
      ]);
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
          description: category?.name ?? 'Cheese',
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
