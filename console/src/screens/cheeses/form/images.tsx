/** The images of a cheese: their order by drag or keys, the primary one, upload and removal. */
import { ActionIcon, Alert, Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { ArrowLeftIcon, ArrowRightIcon, Cross2Icon, StarFilledIcon, StarIcon } from '@radix-ui/react-icons';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type CheeseImage, etagOf } from '../../../../../client/src/index.ts';
import { useCurd } from '../../../data/queries.ts';
import { toMessage } from '../../../session/session.ts';
import { patchCheese } from '../change.tsx';
import { toImagePath, type VersionedCheese } from '../queries.ts';
import { Uploads } from './uploads.tsx';

interface Props {
  readonly server: VersionedCheese;
  readonly images: readonly CheeseImage[];
  readonly isReadOnly: boolean;
}

const changedByOthers =
  'Another person changed the images at the same moment. They are shown now: change them again.';

export function Images({ server, images, isReadOnly }: Props) {
  const curd = useCurd();
  const client = useQueryClient();
  const [failure, setFailure] = useState<string | null>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  /** The order that is being stored. */
  const [next, setNext] = useState<readonly string[] | null>(null);
  const changes = useRef({ count: 0, last: Promise.resolve<unknown>(null) });
  const { id } = server.cheese;
  const photoUrls = next ?? server.cheese.photoUrls;

  /** Shows the new order at once, and stores one change after the other: each begins with the order before it. */
  async function store(urls: readonly string[]): Promise<void> {
    setFailure(null);
    setNext(urls);
    const { current } = changes;
    current.count += 1;
    const number = current.count;
    const before = { ...server.cheese, photoUrls: [...photoUrls] };
    // Changes of other fields by others do not matter.
    const change = current.last.then(() => patchCheese(curd, before, { photoUrls: [...urls] }));
    current.last = change.catch(() => {});
    try {
      const { isConflict, cheese } = await change;
      // What is read meanwhile may be from before the change.
      await client.cancelQueries({ queryKey: [`cheese ${id}`] });
      client.setQueryData([`cheese ${id}`], { cheese, etag: etagOf(cheese) });
      if (isConflict) {
        setFailure(changedByOthers);
      }
    } catch (error) {
      setFailure(toMessage(error));
    }
    if (number === current.count) {
      setNext(null);
      await client.invalidateQueries({ queryKey: [`cheese ${id}`] });
    }
  }

  function move(url: string, to: number): void {
    const others = photoUrls.filter((other) => other !== url);
    void store(others.toSpliced(to, 0, url));
  }

  return (
    <section aria-label="Images">
      <Title order={2} size="h5" mb="xs">
        Images
      </Title>
      <Stack gap="xs">
        {photoUrls.length === 0 ? (
          <Text size="sm" c="dimmed">
            A cheese with an image sells better. The first one is what shops show in lists.
          </Text>
        ) : null}
        <ul className="images">
          {photoUrls.map((url, index) => {
            const image = images.find(({ imageUrl }) => imageUrl === url);
            const name = `image ${index + 1}`;
            return (
              <li
                key={url}
                draggable={!isReadOnly}
                data-dragged={dragged === url || undefined}
                onDragStart={() => setDragged(url)}
                onDragEnd={() => setDragged(null)}
                onDragOver={(event) => (dragged === null ? undefined : event.preventDefault())}
                onDrop={(event) => {
                  if (dragged !== null && dragged !== url) {
                    event.preventDefault();
                    move(dragged, index);
                  }
                }}
              >
                {image === undefined ? (
                  <Anchor href={url} target="_blank" rel="noreferrer" size="xs" className="image-link">
                    {url}
                  </Anchor>
                ) : (
                  <img
                    src={toImagePath(image.thumbnailUrl)}
                    alt={`${server.cheese.name}, ${name}`}
                    draggable={false}
                  />
                )}
                {image?.caption ? (
                  <Text size="xs" lineClamp={2} title={image.caption}>
                    {image.caption}
                  </Text>
                ) : null}
                {isReadOnly ? null : (
                  <Group gap={2} wrap="nowrap" justify="center">
                    <Action
                      label={index === 0 ? `${name} is the primary one` : `Make ${name} the primary one`}
                      isOff={index === 0}
                      onClick={() => move(url, 0)}
                      icon={index === 0 ? <StarFilledIcon /> : <StarIcon />}
                    />
                    <Action
                      label={`Move ${name} forward`}
                      isOff={index === 0}
                      onClick={() => move(url, index - 1)}
                      icon={<ArrowLeftIcon />}
                    />
                    <Action
                      label={`Move ${name} back`}
                      isOff={index === photoUrls.length - 1}
                      onClick={() => move(url, index + 1)}
                      icon={<ArrowRightIcon />}
                    />
                    <Action
                      label={`Remove ${name}`}
                      onClick={() => void store(photoUrls.filter((other) => other !== url))}
                      icon={<Cross2Icon />}
                    />
                  </Group>
                )}
              </li>
            );
          })}
        </ul>
        {failure === null ? null : (
          <Alert color="red" variant="light">
            {failure}
          </Alert>
        )}
        {isReadOnly ? null : <Uploads cheeseId={id} />}
      </Stack>
    </section>
  );
}

interface ActionProps {
  readonly label: string;
  readonly icon: React.ReactNode;
  readonly isOff?: boolean;
  readonly onClick: () => void;
}

function Action({ label, icon, isOff = false, onClick }: ActionProps) {
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      aria-disabled={isOff}
      data-disabled={isOff}
      onClick={() => (isOff ? undefined : onClick())}
    >
      {icon}
    </ActionIcon>
  );
}
