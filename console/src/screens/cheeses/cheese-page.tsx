/** One cheese: its form beside a preview, its images, stock and history. */
import { Alert, Badge, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { isCurdError } from '../../../../client/src/index.ts';
import { useSignedIn } from '../../data/queries.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { Conflict } from '../../parts/dialogs/conflict.tsx';
import { SaveButtons } from '../../parts/forms/save-buttons.tsx';
import { Empty, PageTitle, Read } from '../../parts/page.tsx';
import { Actor } from '../../parts/text/actor.tsx';
import { Time } from '../../parts/text/time.tsx';
import { StockPanel } from '../stock/stock-panel.tsx';
import { readDeletionEffects } from './deletion.ts';
import { nameOfField, showField } from './fields.ts';
import { CheeseForm } from './form/cheese-form.tsx';
import { type FormValues, parseNumbers } from './form/form-values.ts';
import { Images } from './form/images.tsx';
import { Preview } from './form/preview.tsx';
import { toSentences, useCheeseForm } from './form/use-cheese-form.ts';
import { History, useHistory } from './history.tsx';
import { Prices } from './prices.tsx';
import { toImagePath, useCheese, useImages, type VersionedCheese } from './queries.ts';

export function CheesePage({ id }: { readonly id: number }) {
  const cheese = useCheese(id);
  const heading = <PageTitle title={`Cheese ${id}`} />;
  if (isCurdError(cheese.error) && cheese.error.status === 404) {
    return (
      <>
        {heading}
        <Empty title="There is no such cheese">It was deleted, or never existed.</Empty>
      </>
    );
  }
  return (
    <Read of={cheese} what="the cheese" heading={heading}>
      {(server) => <OpenCheese server={server} />}
    </Read>
  );
}

function OpenCheese({ server }: { readonly server: VersionedCheese }) {
  const { curd, person } = useSignedIn();
  const [, navigate] = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const form = useCheeseForm(server);
  const { cheese } = form.base;
  const { data: images = [] } = useImages(cheese.id);
  const history = { subject: `cheese:${cheese.id}`, queryKey: `cheese ${cheese.id}` };
  const lastChange = useHistory(history).data?.events[0];
  const { fields, general } =
    form.failure === null ? { fields: {}, general: null } : toSentences(form.failure);
  const primary = images.find(({ imageUrl }) => imageUrl === server.cheese.photoUrls[0]);

  return (
    <>
      <PageTitle title={cheese.name}>
        <Text size="sm" c="dimmed" role="status">
          {form.isChanged ? (
            'not saved'
          ) : (
            <>
              saved <Time at={cheese.updatedAt} isRelative />
              {lastChange === undefined ? null : (
                <>
                  {' by '}
                  <Actor actor={lastChange.actor} />
                </>
              )}
            </>
          )}
        </Text>
        {person.mayWriteCheeses ? (
          <>
            <Button size="xs" variant="outline" color="red" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <SaveButtons
              isChanged={form.isChanged}
              isSaving={form.isSaving}
              onSave={form.save}
              onDiscard={form.discard}
            />
          </>
        ) : (
          <Badge variant="default">read only</Badge>
        )}
      </PageTitle>
      {general === null ? null : (
        <Alert color="red" variant="light" title="It was not saved" mb="sm">
          {general}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack gap="lg">
          <section className="card">
            <CheeseForm
              values={form.values}
              errors={fields}
              onChange={form.edit}
              isReadOnly={!person.mayWriteCheeses}
            />
          </section>
          {person.mayWriteCheeses ? (
            <StockPanel cheeseId={cheese.id} name={cheese.name} portions={server.cheese.portions} />
          ) : null}
        </Stack>
        <Stack gap="lg">
          <Preview
            values={form.values}
            image={
              primary === undefined
                ? null
                : { source: toImagePath(primary.thumbnailUrl), caption: primary.caption ?? '' }
            }
          />
          <Images server={server} images={images} isReadOnly={!person.mayWriteCheeses} />
          <Prices cheeseId={cheese.id} />
          <History {...history} />
        </Stack>
      </SimpleGrid>
      {isDeleting ? (
        <Confirm
          title={`Delete ${cheese.name}`}
          action="Delete"
          names={{ [`cheese:${cheese.id}`]: cheese.name }}
          readEffects={() => readDeletionEffects(curd, [cheese])}
          onConfirm={() => curd.cheeses.delete(cheese.id).then(() => navigate('/cheeses'))}
          onClose={() => setDeleting(false)}
        />
      ) : null}
      {form.conflict === null ? null : (
        <Conflict
          title={cheese.name}
          {...form.conflict}
          mine={withNumbers(form.conflict.mine)}
          theirs={withNumbers(form.conflict.theirs)}
          nameOf={nameOfField}
          show={showField}
        />
      )}
    </>
  );
}

/** Numbers as such, not as the texts of their fields. */
const withNumbers = (values: Partial<FormValues>) => ({ ...values, ...parseNumbers(values) });
