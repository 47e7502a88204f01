/** `/search/image`: finds records of a list, or of the lists of a group, by what their pictures look like. */
import { Type, type Static } from 'typebox';
import { reachesFiles } from '../access/index.js';
import { asMediaUrl, isMediaUrl } from '../fields/index.js';
import {
  compileCheck,
  defineOperation,
  groupSearchParams,
  groupTargets,
  listSearchParams,
  listTargets,
  named,
  object,
  parseJson,
  throwFaults,
  searchBody,
  searchFor,
  searchQuery,
  searchResponse,
  type OpeningTargets,
  type OperationContext,
  type OperationInput,
  type OperationResult,
  type SearchTargets,
} from '../operations/index.js';
import { PICTURE_SETTINGS } from '../pictures/index.js';
import { ServiceError, serviceKey, settingsOf } from '../platform/index.js';
import { readOptions } from '../search/index.js';
import type { GivenPictures } from './given-picture.js';
import { IMAGE_MODEL_REQUIRED, IMAGE_MODEL_UNAVAILABLE, PICTURE_UNREADABLE } from './picture-problems.js';

/** Key by which operations find the reader of given pictures. */
export const GIVEN_PICTURES = serviceKey<GivenPictures>('given-pictures');

const JSON_TYPE = 'application/json';
const CONTENT_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif', JSON_TYPE];
const JSON_BYTES_MAX = 2_097_152;
const URL_CHARACTERS_MAX = 4096;
const FINDS_IN_MEDIA = 'media:read';

/** Search options without those for words. */
const OPTIONS = [
  'minimum_image_score',
  'filter',
  'radius',
  'order_by',
  'facets',
  'facet_size',
  'select',
  'fields_bytes_max',
  'explain',
  'exact',
  'skip',
  'size',
] as const;

type Members = Record<(typeof OPTIONS)[number], (typeof searchQuery)['properties'][(typeof OPTIONS)[number]]>;

function optionsOf({ properties }: typeof searchQuery): Members {
  return Object.fromEntries(OPTIONS.map((name) => [name, properties[name]])) as Members;
}

const imageQuery = object(optionsOf(searchQuery));
const imageBody = named(
  'ImageSearchRequest',
  {
    media: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: URL_CHARACTERS_MAX,
        description: 'The picture as a file in a media store: `<store>/<path>`. Give either `media` or `url`',
      }),
    ),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: URL_CHARACTERS_MAX,
        description: 'URL of the picture. Give either `url` or `media`',
      }),
    ),
    ...optionsOf(searchBody),
  },
  { description: 'A search by a picture' },
);
const checkBody = compileCheck(imageBody, 'body');

const common = {
  method: 'POST',
  description:
    'Finds records with a picture that looks like the given one, ranked by `@image_score`: 1 is the same picture. Lists whose `image_model` is null are left out.\n\nThe body is either the picture itself (JPEG, PNG, WebP, GIF or AVIF, of at most `pictures.bytes_max` bytes and `pictures.pixels_max` pixels), with the options in the query string; or JSON with the options and `media` or `url`. `media` needs the permission `media:read`; with a key whose scope is a list or group, a record must link to the file, too.',
  permission: 'search-result:read',
  callers: ['key', 'console', 'cli'],
  rateLimit: 'search',
  query: imageQuery,
  body: {
    kind: 'stream',
    contentTypes: CONTENT_TYPES,
    schemas: { [JSON_TYPE]: imageBody },
    bytesMax: (config) => Math.max(JSON_BYTES_MAX, settingsOf(config, PICTURE_SETTINGS).bytes_max),
    memory: 'whole',
  },
  responses: {
    200: {
      description: 'A page of hits, and counts over all hits',
      schema: searchResponse,
      headers: ['Server-Timing', 'X-Cache'],
    },
  },
  errors: [
    'version-not-found',
    'invalid-filter',
    'unprocessable',
    'answer-too-large',
    'overloaded',
    'deadline',
    'not-ready',
    IMAGE_MODEL_REQUIRED,
    IMAGE_MODEL_UNAVAILABLE,
    PICTURE_UNREADABLE,
  ],
} as const satisfies Partial<Parameters<typeof defineOperation>[0]>;

const ofList = defineOperation({
  ...common,
  name: 'search.image',
  summary: 'Search a list by a picture',
  path: '/search/image/{account}/{list}/{version}',
  target: 'list',
  params: listSearchParams,
  handle: (context, input) => search(context, input, () => listTargets(context, input.params)),
});

const ofGroup = defineOperation({
  ...common,
  name: 'search.image-group',
  summary: 'Search the lists of a group by a picture',
  path: '/search/image/group/{account}/{group}/{version}',
  target: 'group',
  params: groupSearchParams,
  errors: [...common.errors, 'list-not-found'],
  handle: (context, input) => search(context, input, () => groupTargets(context, input.params)),
});

export const pictureSearches = [ofList, ofGroup];

type ImageInput = OperationInput<{ readonly account: string }, Static<typeof imageQuery>, unknown>;

async function search(
  context: OperationContext,
  { params: { account }, query, stream, contentType }: ImageInput,
  targets: () => OpeningTargets,
): Promise<OperationResult> {
  const { services, signal } = context;
  const received = await allOf(stream);
  const given = services.part(GIVEN_PICTURES);
  const body = contentType === JSON_TYPE ? bodyOf(received) : undefined;
  const { media: _media, url: _url, ...options } = { ...query, ...body };
  // The picture's score takes the place of the scores of text and meaning.
  const wanted = body && urlOf(context, body);
  if (wanted !== undefined && isMediaUrl(wanted)) await assertWithinReach(context, { account, url: wanted }, targets);
  const read = readOptions({ ...options, highlight: false, minimum_text_score: options.minimum_image_score ?? 0 });
  const { bytes, release } =
    wanted === undefined
      ? { bytes: received, release: () => undefined }
      : await given.fetched({ account, url: wanted }, services.requestMemory.bodies, signal);
  try {
    return await searchFor(context, targets(), read, async (found) => {
      const searchedBy = found.pictures.flatMap((of) => (of === undefined ? [] : [of.by]));
      assertSearched(found);
      const vectors = await given.vectors(bytes, { account, searchedBy }, signal);
      return { targets: targetsOf(found, vectors), meaning: 'used', isComplete: true };
    });
  } finally {
    release();
  }
}

/** Throws if none of the lists has searchable pictures. */
function assertSearched({ lists, pictures }: SearchTargets): void {
  if (lists.some(({ engine }) => engine !== 'managed')) {
    const detail = 'A list with an external engine cannot be searched by a picture.';
    throw new ServiceError('invalid-parameter', detail, { errors: [{ parameter: 'list', detail }] });
  }
  if (pictures.some((of) => of !== undefined)) return;
  if (lists.some(({ features }) => typeof features?.['image_model'] === 'string'))
    throw new ServiceError(
      'not-ready',
      'The pictures of the list are still being prepared for searches; try again soon.',
    );
  throw new ServiceError(
    IMAGE_MODEL_REQUIRED,
    "The list's `image_model` is null; set it to 'built-in', or to a model that reads pictures.",
  );
}

function targetsOf(
  { targets, pictures }: SearchTargets,
  vectors: ReadonlyMap<string, Float32Array>,
): SearchTargets['targets'] {
  return targets.flatMap((target, index) => {
    const { generation, by } = pictures[index] ?? {};
    const vector = by === undefined ? undefined : vectors.get(by.modelVersion);
    if (generation === undefined || by === undefined || vector === undefined) return [];
    return [{ ...target, generation, meaning: { modelVersion: by.modelVersion, vector, ofPictures: true } as const }];
  });
}

function bodyOf(bytes: Uint8Array): Static<typeof imageBody> {
  if (bytes.length > JSON_BYTES_MAX)
    throw new ServiceError('body-too-large', `A JSON body can have at most ${JSON_BYTES_MAX} bytes.`);
  const body = parseJson(Buffer.from(bytes));
  throwFaults(checkBody(body));
  return body as Static<typeof imageBody>;
}

/**
 * Keys that are limited to a list or group have no access to the account's files: they may search by files that records
 * link to, and get the same error for all others, existing or not. Throws `out-of-scope`.
 */
async function assertWithinReach(
  { caller, services }: OperationContext,
  { account, url }: { readonly account: string; readonly url: string },
  targets: () => OpeningTargets,
): Promise<void> {
  if (reachesFiles(caller, account, services.catalog)) return;
  const { lists, release } = await targets();
  try {
    const file = { kind: 'image', url } as const;
    if (lists.some(({ id }) => services.indexes.opened(id)?.files.linksTo(file) === true)) return;
  } finally {
    release();
  }
  throw new ServiceError(
    'out-of-scope',
    'A key whose scope is a list or group can only search by files of media stores that records link to.',
  );
}

/** Returns the URL of the picture. Throws if the body names none or two, or if the caller may not read files. */
function urlOf({ caller }: OperationContext, { media, url }: Static<typeof imageBody>): string {
  if ((media === undefined) === (url === undefined)) {
    const detail = 'Give either media or url.';
    throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '', detail }] });
  }
  const file = media === undefined ? (url ?? '') : asMediaUrl(media);
  if (isMediaUrl(file) && !caller.can(FINDS_IN_MEDIA))
    throw new ServiceError(
      'missing-permission',
      `Searching by a file of a media store needs the permission ${FINDS_IN_MEDIA}.`,
    );
  return file;
}

async function allOf(stream: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  // Copied, since the next piece may reuse the memory.
  for await (const piece of stream ?? []) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}
