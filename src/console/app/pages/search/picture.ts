/** A picture that is searched by: a file of the person's, or a link as it stands in a record. */
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

/** In the address: the link. A file of the person's has no address. */
export const PICTURE = 'picture';

const JSON_TYPE = 'application/json';
const BYTES_TYPE = 'application/octet-stream';
/** What a browser shows as a picture and runs nothing of, and what is searched by. */
export const PICTURE_TYPES: readonly string[] = ['image/avif', 'image/gif', 'image/jpeg', 'image/png', 'image/webp'];
const PICTURE_ENDING = /\.(?:avif|gif|jpe?g|png|webp)$/i;

/** Options that a search by a picture takes, and which of them most people need first. */
const NAMES: ReadonlySet<string> = new Set(Object.keys(searchImageSchemas.query.properties));
export const PICTURE_OPTIONS = { names: NAMES, first: ['minimum_image_score', 'filter', 'facets', 'explain'] } as const;

export function linkIn(options: SearchState): string | undefined {
  const { [PICTURE]: link } = options;
  return link === undefined ? undefined : String(link);
}

/** By its name alone. */
export function isPictureName(path: string): boolean {
  return PICTURE_ENDING.test(path);
}

/** What of an ordinary search a search by a picture takes, too. */
function pictureOptions(options: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => NAMES.has(name)));
}

type PictureInput = Required<Pick<SearchImageInput, 'query' | 'body'>>;
type SearchByPicture<Params extends object> = Call<{ params: Params } & PictureInput, SearchImageOutput>;

/** As the service takes it: a link as JSON with the options, a file with the options in the query string. */
function pictureInput(picture: Picture, options: object): PictureInput {
  const taken = pictureOptions(options);
  if (typeof picture !== 'string') {
    // What the system knows no type of is for the service to refuse.
    return { query: taken, body: { contentType: picture.type === '' ? BYTES_TYPE : picture.type, data: picture } };
  }
  return { query: {}, body: { contentType: JSON_TYPE, data: JSON.stringify({ ...linkMember(picture), ...taken }) } };
}

/** A link as the member of the body that names it. */
function linkMember(link: string): object {
  const place = mediaPlaceOf(link);
  return place === undefined ? { url: link } : { media: `${place.store}/${place.path}` };
}

/** The same as `CopyAs` takes it. */
export function pictureContent(path: string, picture: Picture, options: object): { path: string; content: Content } {
  const taken = pictureOptions(options);
  if (typeof picture === 'string') return { path, content: { json: { ...linkMember(picture), ...taken } } };
  const target = targetOf({ ...searchImage.route, path }, { query: taken });
  return { path: target, content: { file: picture.name, type: picture.type } };
}

/** A search of a list or of a group by a picture. */
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

/** Two files of the same name, size and time are one. */
function nameOf(picture: Picture): string {
  if (typeof picture === 'string') return picture;
  return `${picture.name} ${picture.size} ${picture.lastModified}`;
}

const THUMBNAIL_PIXELS = 160;

/** A small copy as a `data:` address, which the policy of the page lets in; undefined for what the browser cannot read. */
export async function thumbnailOf(file: File): Promise<string | undefined> {
  let whole: ImageBitmap;
  try {
    whole = await createImageBitmap(file);
  } catch {
    // No picture, or one of a form that this browser does not know: the service says what is wrong with it.
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
