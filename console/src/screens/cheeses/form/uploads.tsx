/** Images that wait for a caption, or are being sent. */
import { ActionIcon, Button, Group, Progress, Stack, Text, TextInput } from '@mantine/core';
import { Cross2Icon } from '@radix-ui/react-icons';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useCurd } from '../../../data/queries.ts';
import { DropZone } from '../../../parts/fields/drop-zone.tsx';
import { useUnsavedWarning } from '../../../parts/forms/use-save-key.ts';
import { toMessage } from '../../../session/session.ts';

const types = ['image/jpeg', 'image/png', 'image/webp'];
const bytesMax = 10 * 1024 * 1024;

interface Upload {
  readonly id: number;
  readonly file: File;
  readonly preview: string;
  readonly caption: string;
  /** 0 to 1; null before it is sent. */
  readonly progress: number | null;
  readonly failure: string | null;
}

let lastId = 0;

/** Why the server would refuse a file; null if it would not by its type and size. */
function refusalOf({ name, type, size }: File): string | null {
  if (!types.includes(type)) {
    return `${name} is not an image in a format that the shop takes: use JPEG, PNG or WebP.`;
  }
  return size > bytesMax
    ? `${name} has ${(size / 1024 / 1024).toFixed(1)} MiB; an image has at most 10 MiB. Make it smaller.`
    : null;
}

export function Uploads({ cheeseId }: { readonly cheeseId: number }) {
  const curd = useCurd();
  const client = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [refusals, setRefusals] = useState<readonly string[]>([]);
  const update = (id: number, changes: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));
  const remove = ({ id, preview }: Upload) => {
    URL.revokeObjectURL(preview);
    setUploads((all) => all.filter((upload) => upload.id !== id));
  };

  function add(files: readonly File[]): void {
    setRefusals(files.flatMap((file) => refusalOf(file) ?? []));
    const taken = files.filter((file) => refusalOf(file) === null);
    setUploads((all) => [
      ...all,
      ...taken.map((file) => {
        lastId += 1;
        const preview = URL.createObjectURL(file);
        return { id: lastId, file, preview, caption: '', progress: null, failure: null };
      }),
    ]);
  }

  /** One after another: the order of the images is that of the files. */
  async function send(): Promise<void> {
    for (const upload of uploads.filter(({ progress }) => progress === null)) {
      const { id, file, caption } = upload;
      update(id, { progress: 0, failure: null });
      try {
        await curd.cheeses.uploadImage(cheeseId, file, {
          ...(caption.trim() === '' ? {} : { caption: caption.trim() }),
          onProgress: ({ sent, total }) => update(id, { progress: sent / total }),
        });
        remove(upload);
      } catch (error) {
        update(id, { progress: null, failure: toMessage(error) });
      }
      await client.invalidateQueries({ queryKey: [`cheese ${cheeseId}`] });
    }
  }

  const waiting = uploads.filter(({ progress }) => progress === null);
  const isSending = waiting.length < uploads.length;
  useUnsavedWarning(uploads.length > 0);

  return (
    <Stack gap="xs">
      <DropZone action="Choose images" accept={types.join()} isMultiple onFiles={add} />
      {refusals.map((refusal) => (
        <Text key={refusal} size="sm" c="var(--curd-fault)" role="alert">
          {refusal}
        </Text>
      ))}
      {uploads.map((upload) => (
        <Group key={upload.id} gap="sm" wrap="nowrap" align="center">
          <img className="upload-preview" src={upload.preview} alt="" />
          <Stack gap={4} style={{ flex: 1 }}>
            {upload.progress === null ? (
              <TextInput
                size="xs"
                aria-label={`Caption of ${upload.file.name}`}
                placeholder={`Caption of ${upload.file.name} (optional)`}
                value={upload.caption}
                error={upload.failure}
                onChange={({ currentTarget }) => update(upload.id, { caption: currentTarget.value })}
                onKeyDown={({ key }) => (key === 'Enter' && !isSending ? void send() : undefined)}
              />
            ) : (
              <Progress.Root size="lg">
                <Progress.Section
                  value={upload.progress * 100}
                  aria-label={`${upload.file.name} is being uploaded`}
                >
                  <Progress.Label>{Math.round(upload.progress * 100)} %</Progress.Label>
                </Progress.Section>
              </Progress.Root>
            )}
          </Stack>
          {upload.progress === null ? (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Do not upload ${upload.file.name}`}
              onClick={() => remove(upload)}
            >
              <Cross2Icon />
            </ActionIcon>
          ) : null}
        </Group>
      ))}
      {uploads.length === 0 ? null : (
        <Button size="xs" loading={isSending} onClick={() => void send()} style={{ alignSelf: 'start' }}>
          Upload {waiting.length === 1 ? '1 image' : `${waiting.length} images`}
        </Button>
      )}
    </Stack>
  );
}
