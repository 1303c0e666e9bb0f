/** Takes files by drop, by paste or from a dialog; on phones also from the camera. */
import './drop-zone.css';
import { Button, Group, Text } from '@mantine/core';
import { UploadIcon } from '@radix-ui/react-icons';
import { type ReactNode, useEffect, useRef, useState } from 'react';

interface Props {
  /** What the button says: "Choose images". */
  readonly action: string;
  /** Written like the attribute of an input of files: "image/png,.csv". */
  readonly accept: string;
  readonly isMultiple?: boolean;
  readonly onFiles: (files: File[]) => void;
  readonly children?: ReactNode;
}

export function DropZone({ action, accept, isMultiple = false, onFiles, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const receive = useRef(onFiles);
  receive.current = onFiles;

  useEffect(() => {
    const onPaste = ({ clipboardData }: ClipboardEvent) => {
      const files = [...(clipboardData?.files ?? [])];
      if (files.length > 0) {
        receive.current(files);
      }
    };
    window.addEventListener('paste', onPaste);
    return () => window.removeEventListener('paste', onPaste);
  }, []);

  return (
    <section
      aria-label={action}
      className="drop-zone"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes('Files')) {
          event.preventDefault();
          setOver(true);
        }
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const files = [...event.dataTransfer.files];
        if (files.length > 0) {
          onFiles(files);
        }
      }}
    >
      <Group gap="sm" justify="center">
        <Button
          size="xs"
          variant="default"
          leftSection={<UploadIcon aria-hidden="true" />}
          onClick={() => input.current?.click()}
        >
          {action}
        </Button>
        <Text size="sm" c="dimmed">
          or drop or paste {isMultiple ? 'them' : 'it'} here
        </Text>
      </Group>
      {children}
      <input
        ref={input}
        hidden
        type="file"
        aria-label={action}
        accept={accept}
        multiple={isMultiple}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </section>
  );
}
