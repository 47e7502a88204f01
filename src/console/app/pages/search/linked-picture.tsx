import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { text } from '../../messages/index.js';
import { mediaList, mediaRead, targetOf } from '../../service/client.js';
import { mediaPlaceOf, type MediaPlace } from '../../service/media-place.js';
import { reading } from '../../service/queries.js';
import { useAccount, useMay } from '../../service/session.js';
import { bytes } from '../../ui/format.js';
import { Thumbnail } from '../../ui/thumbnail.js';
import { isPictureName, PICTURE_TYPES } from './picture.js';

/** A larger picture is shown on demand. */
const SHOWN_BYTES_MAX = 1_000_000;

/**
 * Picture in a media store of the account. Pictures on other hosts are not shown, since the console makes no requests
 * to other hosts.
 */
export function LinkedPicture({ link }: { readonly link: string }) {
  const may = useMay();
  const place = mediaPlaceOf(link);
  if (place === undefined || !isPictureName(place.path) || !may(mediaRead)) return null;
  return <StoredPicture place={place} />;
}

function StoredPicture({ place: { store, path } }: { readonly place: MediaPlace }) {
  const account = useAccount();
  // Reads the size first.
  const { data, isPending } = useQuery({
    ...reading(mediaList, { params: { account, store }, query: { prefix: path, size: 1 } }),
    staleTime: Infinity,
  });
  if (isPending) return <Thumbnail src={undefined} alt={path} />;
  const file = data?.files.find((each) => each.path === path);
  if (file === undefined || !PICTURE_TYPES.includes(file.content_type)) return null;
  const address = targetOf(mediaRead.route, { params: { account, store, path } });
  if (file.bytes > SHOWN_BYTES_MAX) {
    return (
      <Anchor href={address} target="_blank" rel="noreferrer" size="sm">
        {text.pictures.large(bytes(file.bytes))}
      </Anchor>
    );
  }
  return <Thumbnail src={address} alt={path} />;
}
