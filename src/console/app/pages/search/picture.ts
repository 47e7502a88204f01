/** Picture of a search: a file of the person, or a link as in a record. */
import { queryOptions } from '@tanstack/react-query';
import type { SearchState } from '../../page-state.js';
import {
  client,
  searchImage,
  searchImageSchemas,
  targetOf,
  type Call,
  type SearchImageInput,
  type SearchImageOutput,
} from '../../service/client.js';
import { mediaPlaceOf } from '../../service/media-place.js';
import type { Content } from '../list/copy-as.js';

export type Picture = File | string;

/** Address parameter with the link. A file has no address. */
export const PICTURE = 'picture';

const JSON_TYPE = 'application/json';
const BYTES_TYPE = 'application/octet-stream';
/** Types that a browser displays without running anything, and that can be searched by. */
export const PICTURE_TYPES: readonly string[] = ['image/avif', 'image/gif', 'image/jpeg', 'image/png', 'image/webp'];
const PICTURE_ENDING = /\.(?:avif|gif|jpe?g|png|webp)$/i;

/** Options of a search by picture, and the most used of them. */
const NAMES: ReadonlySet<string> = new Set(Object.keys(searchImageSchemas.query.properties));
export const PICTURE_OPTIONS = { names: NAMES, first: ['minimum_image_score', 'filter', 'facets', 'explain'] } as const;

export function linkIn(options: SearchState): string | undefined {
  const { [PICTURE]: link } = options;
  return link === undefined ? undefined : String(link);
}

/** Judges by the name alone. */
export function isPictureName(path: string): boolean {
  return PICTURE_ENDING.test(path);
}

/** Returns the options of a search that also apply to one by picture. */
function pictureOptions(options: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => NAMES.has(name)));
}

type PictureInput = Required<Pick<SearchImageInput, 'query' | 'body'>>;
type SearchByPicture<Params extends object> = Call<{ params: Params } & PictureInput, SearchImageOutput>;

/**
 * Returns the input of the operation: a link as JSON with the options, or a file with the options in the query string.
 */
function pictureInput(picture: Picture, options: object): PictureInput {
  const taken = pictureOptions(options);
  if (typeof picture !== 'string') {
    // The service refuses a type that the system does not know.
    return { query: taken, body: { contentType: picture.type === '' ? BYTES_TYPE : picture.type, data: picture } };
  }
  return { query: {}, body: { contentType: JSON_TYPE, data: JSON.stringify({ ...linkMember(picture), ...taken }) } };
}

/** Returns the member of the body for a link. */
function linkMember(link: string): object {
  const place = mediaPlaceOf(link);
  return place === undefined ? { url: link } : { media: `${place.store}/${place.path}` };
}

/** Returns the same for `CopyAs`. */
export function pictureContent(path: string, picture: Picture, options: object): { path: string; content: Content } {
  const taken = pictureOptions(options);
  if (typeof picture === 'string') return { path, content: { json: { ...linkMember(picture), ...taken } } };
  const target = targetOf({ ...searchImage.route, path }, { query: taken });
  return { path: target, content: { file: picture.name, type: picture.type } };
}

/** Query of a search by picture, of a list or a group. */
export function readingByPicture<Params extends object>(
  call: SearchByPicture<Params>,
  params: Params,
  { picture, options }: { readonly picture: Picture | undefined; readonly options: object },
) {
  const taken = pictureOptions(options);
  return queryOptions<SearchImageOutput>({
    queryKey: [call.route.name, params, taken, picture === undefined ? null : nameOf(picture)],
    queryFn: ({ signal }) => call(client, { params, ...pictureInput(picture ?? '', taken) }, { signal }),
    enabled: picture !== undefined,
  });
}

/** Files with equal name, size and time count as the same. */
function nameOf(picture: Picture): string {
  if (typeof picture === 'string') return picture;
  return `${picture.name} ${picture.size} ${picture.lastModified}`;
}

const THUMBNAIL_PIXELS = 160;

/**
 * Returns a thumbnail as `data:` URL, which the page's policy allows. Undefined if the browser cannot read the file.
 */
export async function thumbnailOf(file: File): Promise<string | undefined> {
  let whole: ImageBitmap;
  try {
    whole = await createImageBitmap(file);
  } catch {
    // No picture, or an unknown format: the service reports what is wrong.
    return undefined;
  }
  const scale = Math.min(1, THUMBNAIL_PIXELS / Math.max(whole.width, whole.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(whole.width * scale));
  canvas.height = Math.max(1, Math.round(whole.height * scale));
  canvas.getContext('2d')?.drawImage(whole, 0, 0, canvas.width, canvas.height);
  whole.close();
  return canvas.toDataURL();
}
