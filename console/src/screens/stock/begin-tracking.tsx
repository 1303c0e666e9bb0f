/** Begins to track a cheese that is found by its name. */
import { Select, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useApi } from '../../data/queries.ts';
import { countStock, KilogramFields, readCount, type StockCount, StockForm } from './stock-dialogs.tsx';

const typingMs = 150;

export function BeginTracking({ onClose }: { readonly onClose: () => void }) {
  const [cheeseId, setCheeseId] = useState<string | null>(null);
  const [text, setText] = useState('');
  const [onHand, setOnHand] = useState('');
  const [lowAt, setLowAt] = useState('');
  const count = readCount(onHand, lowAt);
  const [q] = useDebouncedValue(text.trim().slice(0, 100), typingMs);
  const { data: found = [] } = useApi(['cheeses', 'to track', q], async (curd, signal) => {
    const { items } = await curd.cheeses.list({ limit: 20, ...(q === '' ? {} : { q }) }, { signal });
    const ids = items.map(({ id }) => String(id));
    const tracked =
      ids.length === 0 ? [] : (await curd.stock.list({ cheeseIds: ids, limit: 100 }, { signal })).items;
    return items.map(({ id, name, category }) => ({
      value: String(id),
      label: category === undefined ? name : `${name} (${category.name})`,
      disabled: tracked.some((stock) => stock.cheeseId === id),
    }));
  });
  return (
    <StockForm
      title="Track the stock of a cheese"
      action="Begin tracking"
      isReady={cheeseId !== null && count !== null}
      onSubmit={(curd) => countStock(curd, Number(cheeseId), undefined, count as StockCount)}
      onClose={onClose}
    >
      <Select
        label="Cheese"
        description="Those that are tracked already cannot be chosen"
        placeholder="Type a part of its name"
        data-autofocus
        searchable
        data={found}
        // The server has searched: it also finds names without their accents.
        filter={({ options }) => options}
        value={cheeseId}
        onChange={setCheeseId}
        searchValue={text}
        onSearchChange={setText}
        nothingFoundMessage="No cheese has this name"
      />
      <KilogramFields onHand={onHand} lowAt={lowAt} onOnHand={setOnHand} onLowAt={setLowAt} />
      <Text size="sm" c="dimmed">
        Enter what lies in the storeroom. Orders that were not shipped yet are reserved from it.
      </Text>
    </StockForm>
  );
}
