/** The named views of a list: opens one, saves what is shown under a name, and deletes one. */
import { Anchor, Button, CloseButton, Group, Popover, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useHiddenColumns } from './use-columns.ts';
import { readViews, searchOfView, storeViews, type View, viewNameMax, viewsMax, withView } from './views.ts';

/** @param list its label: "Orders" */
export function SavedViews({ list }: { readonly list: string }) {
  const [path] = useLocation();
  const [search] = useSearchParams();
  const { hidden } = useHiddenColumns(list);
  const [views, setViews] = useState(() => readViews(list));
  const [name, setName] = useState('');
  const [isOpen, setOpen] = useState(false);
  const shown = searchOfView(search, hidden);
  const current = views.find((view) => view.search === shown);
  const isFull = views.length >= viewsMax && views.every((view) => view.name !== name.trim());

  const keep = (next: readonly View[]) => {
    storeViews(list, next);
    setViews(next);
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    keep(withView(views, { name: name.trim(), search: shown }));
    setName('');
    setOpen(false);
  };

  return (
    <Popover
      position="bottom-start"
      shadow="md"
      width={300}
      trapFocus
      returnFocus
      opened={isOpen}
      onChange={setOpen}
    >
      <Popover.Target>
        <Button size="xs" variant="default" onClick={() => setOpen(!isOpen)}>
          {current === undefined ? 'Views' : `View: ${current.name}`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Views">
        <Stack gap={6}>
          {views.length === 0 ? (
            <Text size="xs" c="dimmed">
              A view is a name for the filters, the sort and the columns that are shown now.
            </Text>
          ) : null}
          {views.map((view) => (
            <Group key={view.name} gap={4} wrap="nowrap" justify="space-between">
              <Anchor
                component={Link}
                size="sm"
                href={`${path}?${view.search}`}
                aria-current={view === current || undefined}
                style={{ overflowWrap: 'anywhere' }}
                onClick={() => setOpen(false)}
              >
                {view.name}
              </Anchor>
              <CloseButton
                size="sm"
                aria-label={`Delete the view ${view.name}`}
                onClick={() => keep(views.filter((other) => other !== view))}
              />
            </Group>
          ))}
          <form onSubmit={save}>
            <Group gap={6} align="end" wrap="nowrap">
              <TextInput
                size="xs"
                label="Save this view as"
                maxLength={viewNameMax}
                autoComplete="off"
                value={name}
                onChange={({ currentTarget }) => setName(currentTarget.value)}
              />
              <Button
                size="xs"
                type="submit"
                style={{ flexShrink: 0 }}
                disabled={name.trim() === '' || isFull}
              >
                Save
              </Button>
            </Group>
          </form>
          {isFull ? <Text size="xs">Delete one of the {viewsMax} views to save another.</Text> : null}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
