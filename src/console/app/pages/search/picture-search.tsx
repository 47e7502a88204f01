import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../../messages/index.js';
import { listUpdate, type ListReadOutput } from '../../service/client.js';
import { useAccount, useMay } from '../../service/session.js';
import { PictureBox } from './picture-box.js';
import type { Picture } from './picture.js';

type PictureList = Pick<ListReadOutput, 'name' | 'resources' | 'image_model'>;

/** True for fields whose files can be searched by their appearance. */
export const isSeen = ({ kind }: PictureList['resources'][number]): boolean => kind === 'image' || kind === 'video';
const linksToPictures = ({ resources }: PictureList): boolean => resources.some(isSeen);

/** Returns fields whose pictures are searched; empty if they are not. */
export function pictureFieldsOf({ resources, image_model }: PictureList): readonly string[] {
  if (image_model === null) return [];
  return resources.filter(({ kind }) => kind === 'image').map(({ name }) => name);
}

interface PictureSearchProps {
  readonly list: PictureList;
  readonly picture: Picture | undefined;
  readonly onPicture: (picture: Picture | undefined) => void;
  /** Shown next to the picture. */
  readonly actions?: ReactNode;
}

/** Search by picture, or a link to its settings if it is not enabled. */
export function PictureSearch({ list, picture, ...box }: PictureSearchProps) {
  const account = useAccount();
  const may = useMay();
  if (picture !== undefined || (linksToPictures(list) && (list.image_model ?? null) !== null))
    return <PictureBox picture={picture} {...box} />;
  if (!linksToPictures(list) || !may(listUpdate)) return null;
  return (
    <Group gap={6}>
      <Text size="sm" c="dimmed">
        {text.pictures.toChoose}
      </Text>
      <Anchor
        component={Link}
        to="/$account/list/$list/settings"
        params={{ account, list: list.name } as never}
        size="sm"
        underline="always"
      >
        {text.pictures.toSettings}
      </Anchor>
    </Group>
  );
}
