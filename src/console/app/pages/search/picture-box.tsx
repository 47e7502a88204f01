import { Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import { text } from '../../messages/index.js';
import { DropZone } from '../../ui/drop-zone.js';
import { FileLink } from '../../ui/file-link.js';
import { bytes } from '../../ui/format.js';
import { Thumbnail } from '../../ui/thumbnail.js';
import { LinkedPicture } from './linked-picture.js';
import { PICTURE_TYPES, thumbnailOf, type Picture } from './picture.js';

interface PictureBoxProps {
  /** Picture that is searched by. Undefined for a search by words. */
  readonly picture: Picture | undefined;
  readonly onPicture: (picture: Picture | undefined) => void;
  /** Shown next to the picture. */
  readonly actions?: ReactNode;
}

/** Input of a picture: dropped, chosen, or by link. */
export function PictureBox({ picture, onPicture, actions }: PictureBoxProps) {
  if (picture !== undefined) return <Chosen {...{ picture, onPicture, actions }} />;
  return (
    <details>
      <summary>{text.pictures.search}</summary>
      <Group align="stretch" gap="sm" mt="sm">
        <DropZone isCompact label={text.pictures.choose} accept={PICTURE_TYPES.join(',')} onFile={onPicture}>
          <Text size="sm" mb="xs">
            {text.pictures.drop}
          </Text>
        </DropZone>
        <LinkForm onPicture={onPicture} />
      </Group>
    </details>
  );
}

function LinkForm({ onPicture }: Pick<PictureBoxProps, 'onPicture'>) {
  const [entry, setEntry] = useState('');
  return (
    <form
      aria-label={text.pictures.byLink}
      style={{ flex: 1, minWidth: 240 }}
      onSubmit={(event) => {
        event.preventDefault();
        onPicture(entry.trim());
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label={text.pictures.link}
          description={text.pictures.linkHint}
          required
          style={{ flex: 1, minWidth: 200 }}
          value={entry}
          onChange={({ currentTarget: { value } }) => {
            setEntry(value);
          }}
        />
        <Button type="submit" variant="default">
          {text.pictures.byLink}
        </Button>
      </Group>
    </form>
  );
}

type ChosenProps = PictureBoxProps & { readonly picture: Picture };

function Chosen({ picture, onPicture, actions }: ChosenProps) {
  return (
    <Group component="section" gap="md" aria-label={text.pictures.searched} wrap="nowrap">
      {typeof picture === 'string' ? <LinkedPicture link={picture} /> : <FilePicture file={picture} />}
      <Stack gap={2} style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm">{text.pictures.searched}</Text>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {typeof picture === 'string' ? (
            <FileLink url={picture}>{picture}</FileLink>
          ) : (
            <>
              <Code>{picture.name}</Code> {bytes(picture.size)}
            </>
          )}
        </Text>
      </Stack>
      <Button
        variant="default"
        size="xs"
        onClick={() => {
          onPicture(undefined);
        }}
      >
        {text.pictures.byWords}
      </Button>
      {actions}
    </Group>
  );
}

function FilePicture({ file }: { readonly file: File }) {
  // Null if there is none.
  const [thumbnail, setThumbnail] = useState<string | null>();
  useEffect(() => {
    let isGone = false;
    void thumbnailOf(file).then((made) => {
      if (!isGone) setThumbnail(made ?? null);
    });
    return () => {
      isGone = true;
    };
  }, [file]);
  return thumbnail === null ? null : <Thumbnail src={thumbnail} alt={file.name} />;
}
