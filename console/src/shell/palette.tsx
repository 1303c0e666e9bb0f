/** The command palette: screens, actions, and cheeses, orders and customers by id or name. */
import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { Curd } from '../../../client/src/index.ts';
import { useSignedIn } from '../data/queries.ts';
import { shownName } from '../parts/text/customer-name.ts';
import { readId } from '../parts/text/ids.ts';
import { signOut } from '../session/session.ts';
import { screens } from './screens.ts';

const [store, palette] = createSpotlight();

export const openPalette = (): void => palette.open();

const foundMax = 5;

/** Enter chooses the first option, so it is highlighted. Arrow keys move on from it. */
function SelectFirst({ first }: { readonly first: string }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another option may be the first one.
  useEffect(() => {
    document.querySelectorAll('[role=dialog] [data-action]').forEach((option, index) => {
      option.toggleAttribute('data-selected', index === 0);
    });
    store.setState({ ...store.getState(), selected: 0 });
  }, [first]);
  return null;
}

/** What has this id. */
async function findById(curd: Curd, id: number, signal: AbortSignal): Promise<SpotlightFound[]> {
  const kinds = ['order', 'cheese', 'customer'] as const;
  const { items } = await curd.events.listNames({ of: kinds.map((kind) => `${kind}:${id}`) }, { signal });
  return kinds.flatMap((kind) =>
    items.filter(({ of }) => of === `${kind}:${id}`).map(({ name }) => ({ kind, id, name })),
  );
}

interface SpotlightFound {
  readonly kind: 'order' | 'cheese' | 'customer';
  readonly id: number;
  readonly name: string;
}

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
      const id = readId(query) ?? null;
      const { isAdmin } = person;
      // One more than is shown, to know whether there are more.
      const limit = foundMax + 1;
      const allOf = (list: 'cheeses' | 'customers', count: number) =>
        count <= foundMax
          ? []
          : [
              {
                id: `all ${list}`,
                label: `All ${list} with "${query}"`,
                description: 'List',
                onClick: () => navigate(`/${list}?q=${encodeURIComponent(query)}`),
              },
            ];
      const orNone = <T,>(found: PromiseLike<T[]>): Promise<T[]> => Promise.resolve(found).catch(() => []);
      const [byId, cheeses, customers] = await Promise.all([
        // Nobody but operators may look up ids: what others open may not exist.
        id === null
          ? []
          : isAdmin
            ? orNone(findById(curd, id, signal))
            : [{ kind: 'cheese' as const, id, name: `Cheese ${id}` }],
        orNone(curd.cheeses.list({ q: query, limit }, { signal }).then(({ items }) => items)),
        isAdmin
          ? orNone(curd.customers.list({ q: query, limit }, { signal }).then(({ items }) => items))
          : [],
      ]);
      const known = new Set(byId.map((hit) => `${hit.kind} ${hit.id}`));
      return [
        ...byId.map((hit) => ({
          id: `${hit.kind} ${hit.id}`,
          label: hit.name,
          description: hit.name.toLowerCase().startsWith(hit.kind) ? '' : `${hit.kind} ${hit.id}`,
          onClick: () => navigate(`/${hit.kind}s/${hit.id}`),
        })),
        ...cheeses.slice(0, foundMax).map((cheese) => ({
          id: `cheese ${cheese.id}`,
          label: cheese.name,
          description: `${cheese.category?.name ?? 'Cheese'}, ${cheese.id}`,
          onClick: () => navigate(`/cheeses/${cheese.id}`),
        })),
        ...allOf('cheeses', cheeses.length),
        ...customers.slice(0, foundMax).map(({ customer }) => ({
          id: `customer ${customer.id}`,
          label: shownName(customer),
          description: `Customer, ${customer.username}, ${customer.email}`,
          onClick: () => navigate(`/customers/${customer.id}`),
        })),
        ...allOf('customers', customers.length),
      ].filter((entry, index) => index < byId.length || !known.has(entry.id));
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
    ...(person.isAdmin
      ? [
          {
            id: 'new order',
            label: 'New order',
            description: 'Action',
            onClick: () => navigate('/orders/new'),
          },
          {
            id: 'ship with tracking',
            label: 'Ship with tracking',
            description: 'Action',
            onClick: () => navigate('/orders/ship'),
          },
        ]
      : []),
    {
      id: 'light or dark',
      label: 'Light or dark',
      description: 'Action',
      onClick: () => toggleColorScheme(),
    },
    { id: 'sign out', label: 'Sign out', description: 'Action', onClick: () => void signOut() },
  ].filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()));

  const shown = [...actions, ...found];

  return (
    <Spotlight.Root
      store={store}
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
      />
      <Spotlight.ActionsList>
        {shown.map((action) => (
          <Spotlight.Action key={action.id} {...action} />
        ))}
        {shown.length === 0 ? <Spotlight.Empty>Nothing was found</Spotlight.Empty> : null}
      </Spotlight.ActionsList>
      <SelectFirst first={`${query} ${shown[0]?.id}`} />
    </Spotlight.Root>
  );
}
