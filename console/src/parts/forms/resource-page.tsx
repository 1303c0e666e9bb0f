/** The page of something that the owner creates, changes and deletes, such as a delivery method. */
import { Alert, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { type CallOptions, type Curd, etagOf } from '../../../../client/src/index.ts';
import { queryClient, useApi, useCurd } from '../../data/queries.ts';
import { toMessage } from '../../session/session.ts';
import { fieldErrors, invalidate } from '../action.ts';
import { Confirm } from '../dialogs/confirm.tsx';
import { Conflict } from '../dialogs/conflict.tsx';
import { PageTitle, Read } from '../page.tsx';
import { SaveButtons } from './save-buttons.tsx';
import { useVersionedForm } from './use-versioned-form.ts';

type Sentences = Readonly<Record<string, string>>;

export interface Resource<Entity extends object, Values extends object> {
  /** "delivery method" */
  readonly what: string;
  /** The list, whose path is also the key of its query. */
  readonly list: { readonly path: string; readonly title: string };
  /** The subject of its events: "delivery_method". */
  readonly kind: string;
  readonly nameOf: (entity: Entity) => string;
  readonly get: (curd: Curd, id: string) => Promise<Entity>;
  readonly create: (curd: Curd, values: Values) => Promise<Entity>;
  /** @param values all, with the changes */
  readonly patch: (
    curd: Curd,
    entity: Entity,
    changes: Partial<Values>,
    values: Values,
    options: CallOptions & { readonly ifMatch: string | undefined },
  ) => Promise<Entity>;
  readonly delete: (curd: Curd, entity: Entity) => Promise<unknown>;
  /** @param entity null: a new one */
  readonly valuesOf: (entity: Entity | null) => Values;
  /** Why the values cannot be sent; null if they can. */
  readonly problemOf: (values: Values) => string | null;
  readonly labels: Readonly<Record<keyof Values, string>>;
  /** A value in the dialog that asks whose is kept. */
  readonly show?: (value: unknown, field: string) => string;
}

export interface ResourceForm<Entity, Values> {
  /** The stored version; null for a new one. */
  readonly entity: Entity | null;
  readonly values: Values;
  readonly edit: (changes: Partial<Values>) => void;
  /** Sentences of the server by field. */
  readonly errors: Sentences;
}

interface Version<Entity> {
  readonly entity: Entity | null;
  readonly etag: string | undefined;
}

const withVersion = <Entity extends object>(entity: Entity): Version<Entity> => ({
  entity,
  etag: etagOf(entity),
});
const newVersion = { entity: null, etag: undefined };

interface Props<Entity extends object, Values extends object> {
  readonly resource: Resource<Entity, Values>;
  /** The part of the URL after the list: an id, or "new". */
  readonly id: string;
  readonly children: (form: ResourceForm<Entity, Values>) => ReactNode;
  /** Beside the form: an example. */
  readonly aside: (form: ResourceForm<Entity, Values>) => ReactNode;
  readonly onCreated?: () => unknown;
}

export function ResourcePage<Entity extends object, Values extends object>(props: Props<Entity, Values>) {
  const { resource, id } = props;
  const read = useApi([`${resource.kind} ${id}`], async (curd) =>
    id === 'new' ? newVersion : withVersion(await resource.get(curd, id)),
  );
  return (
    <Read of={read} what={`the ${resource.what}`} heading={<PageTitle title={resource.list.title} />}>
      {(server) => <OpenResource key={id} {...props} server={server} />}
    </Read>
  );
}

type OpenProps<Entity extends object, Values extends object> = Props<Entity, Values> & {
  readonly server: Version<Entity>;
};

function useResourceForm<Entity extends object, Values extends object>({
  resource,
  id,
  server,
  onCreated,
}: OpenProps<Entity, Values>) {
  const curd = useCurd();
  const [, navigate] = useLocation();
  const all = ({ entity }: Version<Entity>, changes: Partial<Values>) => ({
    ...resource.valuesOf(entity),
    ...changes,
  });
  return useVersionedForm<Version<Entity>, Values>({
    server,
    valuesOf: ({ entity }) => resource.valuesOf(entity),
    read: async () => withVersion(await resource.get(curd, id)),
    patch: async (version, changes) => {
      const values = all(version, changes);
      return withVersion(
        version.entity === null
          ? await resource.create(curd, values)
          : await resource.patch(curd, version.entity, changes, values, { ifMatch: version.etag }),
      );
    },
    refuse: (changes) => resource.problemOf(all(server, changes)),
    draftKey: `${resource.kind} ${id}`,
    onSaved: (saved) => {
      void invalidate(resource.list.path, 'quote');
      if (id === 'new') {
        navigate(`/${resource.list.path}`);
        onCreated?.();
      } else {
        queryClient.setQueryData([`${resource.kind} ${id}`], saved);
      }
    },
  });
}

/** The messages of a failure beside their fields, and what no field shows. */
function sentencesOf(failure: unknown, labels: Sentences) {
  const errors = failure === null ? null : fieldErrors(failure);
  const others = Object.entries(errors ?? {}).filter(
    ([field]) => !((/^\w+/.exec(field)?.[0] ?? '') in labels),
  );
  return {
    errors: errors ?? {},
    general:
      failure === null || (errors !== null && others.length === 0)
        ? null
        : errors === null
          ? toMessage(failure)
          : others.map(([field, message]) => `${field} ${message}`).join(', '),
  };
}

function OpenResource<Entity extends object, Values extends object>(props: OpenProps<Entity, Values>) {
  const { resource, children, aside } = props;
  const { list, what, labels } = resource;
  const curd = useCurd();
  const [, navigate] = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const form = useResourceForm(props);
  const { entity } = form.base;
  const { errors, general } = sentencesOf(form.failure, labels);
  const shown = { entity, values: form.values, edit: form.edit, errors };
  const title = entity === null ? `New ${what}` : resource.nameOf(entity);
  return (
    <>
      <PageTitle title={title} back={{ href: `/${list.path}`, text: list.title }}>
        <Text size="sm" c="dimmed" role="status">
          {form.isChanged ? 'not saved' : ''}
        </Text>
        {entity === null ? null : (
          <Button size="xs" variant="outline" color="red" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        )}
        <SaveButtons
          action={entity === null ? 'Create' : 'Save'}
          isChanged={form.isChanged}
          isSaving={form.isSaving}
          onSave={form.save}
          onDiscard={form.discard}
        />
      </PageTitle>
      {general === null ? null : (
        <Alert color="red" variant="light" title="It was not saved" mb="sm" role="alert">
          {general}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack gap="lg">{children(shown)}</Stack>
        <Stack gap="lg">{aside(shown)}</Stack>
      </SimpleGrid>
      {isDeleting && entity !== null ? (
        <Confirm
          title={`Delete ${title}`}
          action="Delete"
          text="Orders keep what they had."
          onConfirm={async () => {
            await resource.delete(curd, entity);
            form.discard();
            await invalidate(list.path, 'quote');
            navigate(`/${list.path}`);
          }}
          onClose={() => setDeleting(false)}
        />
      ) : null}
      {form.conflict === null ? null : (
        <Conflict
          title={title}
          {...form.conflict}
          nameOf={(field) => labels[field as keyof Values]}
          {...(resource.show && { show: resource.show })}
        />
      )}
    </>
  );
}
