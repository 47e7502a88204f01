/** The options of a search: one table for the query string and the JSON body, and their form for the search workers. */
import { Type, type Static } from 'typebox';
import {
  FACET_SIZE_DEFAULT,
  FACET_SIZE_MAX,
  FIELDS_PER_LIST_MAX,
  QUERY_OPTION_CHARACTERS_MAX,
  SEARCH_SIZE_DEFAULT,
  SEARCH_SIZE_MAX,
} from '../../platform/index.js';
import type { SearchOptions } from '../../search/index.js';
import { object, oneOf } from './schemas.js';

const QUERY_CHARACTERS_MAX = 10_000;
const FILTER_CHARACTERS_MAX = 100_000;
const NAMES_CHARACTERS_MAX = 16_384;
/** Farther than any list reaches: record numbers have 32 bits. */
const SKIP_EFFECTIVE_MAX = 0xffff_ffff;

const minimumScore = (kind: string, more = '') =>
  Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: `Drops hits whose ${kind} score is below this${more}` }),
  );
/** Of scores that no search of this release gives. */
const WITHOUT_SCORE = '. No effect yet: no hit has such a score, and one without it is not dropped';
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const filter = (charactersMax: number) =>
  Type.Optional(
    Type.String({
      maxLength: charactersMax,
      description:
        'Conditions on facets: `field op value` with = != < <= > >= (or eq ne lt le gt ge), `field in (…)`, `field = null`, joined by and, or, not and parentheses',
      examples: ["year >= 1980 and genre in ('drama', 'comedy')"],
    }),
  );
const orderBy = (charactersMax: number) =>
  Type.Optional(
    Type.String({
      maxLength: charactersMax,
      description:
        'Up to 4 of name, created_utc, modified_utc, Single facets and, with radius, distance; each with asc or desc, separated by commas',
      examples: ['year desc, name asc'],
    }),
  );

const shared = {
  query: Type.Optional(
    Type.String({
      maxLength: QUERY_CHARACTERS_MAX,
      description: 'The search text; none: every record',
      examples: ['gannet dive'],
    }),
  ),
  match: Type.Optional(
    oneOf(['any', 'all', 'phrase'], {
      description:
        '`any` word (default), `all` words in any order, or the `phrase`: words together, in order, as typed',
    }),
  ),
  ranking: Type.Optional(oneOf(['none'], { description: '`none`: in the order in which records are stored' })),
  minimum_text_score: minimumScore('text'),
  minimum_image_score: minimumScore('image', WITHOUT_SCORE),
  minimum_document_score: minimumScore('document', WITHOUT_SCORE),
  minimum_video_score: minimumScore('video', WITHOUT_SCORE),
  minimum_audio_score: minimumScore('audio', WITHOUT_SCORE),
  facet_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: FACET_SIZE_MAX,
      description: `Most frequent values of each facet; default ${FACET_SIZE_DEFAULT}`,
    }),
  ),
  highlight: flag('Mark the words that were found, in `highlights`; default true'),
  explain: flag('Say how each score came about; default false'),
  typo_tolerance: flag('Forgive misspellings; default true'),
  vector_search: flag(
    'Match by meaning, on lists with a model; default true. No effect on a list without one, which every list is in this release',
  ),
  reranker: flag(
    'Reorder top results, on lists and groups with a reranker; default true. No effect without one, which no list or group has in this release',
  ),
  cache: flag('A repeated request may be answered from memory; default true'),
  skip: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Hits to pass over; default 0' }),
  ),
  size: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: SEARCH_SIZE_MAX,
      description: `Hits to answer; default ${SEARCH_SIZE_DEFAULT}`,
    }),
  ),
};

const names = (description: string, example: string, charactersMax = NAMES_CHARACTERS_MAX) =>
  Type.String({
    maxLength: charactersMax,
    description: `${description}, separated by commas`,
    examples: [example],
  });
const nameArray = Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { maxItems: FIELDS_PER_LIST_MAX });

const SELECT = 'Fields to return; none given: all';
const FACETS = 'Facets to count values of, over all hits';
const RADIUS =
  'Keeps records near a point, of lists with a location_field: latitude, longitude and distance (m, km or mi; metres when bare)';

/** As a query string; the whole URL has a limit of its own (414), so what may be long is shorter here than in a body. */
export const searchQuery = object({
  ...shared,
  filter: filter(QUERY_OPTION_CHARACTERS_MAX),
  order_by: orderBy(QUERY_OPTION_CHARACTERS_MAX),
  select: Type.Optional(names(SELECT, 'title,year', QUERY_OPTION_CHARACTERS_MAX)),
  facets: Type.Optional(names(FACETS, 'genre', QUERY_OPTION_CHARACTERS_MAX)),
  radius: Type.Optional(Type.String({ maxLength: 200, description: RADIUS, examples: ['51.5,-0.12,10km'] })),
});

/** As a JSON body: the same, and lists as arrays, a radius as an object. */
export const searchBody = object({
  ...shared,
  filter: filter(FILTER_CHARACTERS_MAX),
  order_by: orderBy(NAMES_CHARACTERS_MAX),
  select: Type.Optional(Type.Union([names(SELECT, 'title,year'), nameArray], { description: SELECT })),
  facets: Type.Optional(Type.Union([names(FACETS, 'genre'), nameArray], { description: FACETS })),
  radius: Type.Optional(
    Type.Union(
      [
        Type.String({ maxLength: 200, examples: ['51.5,-0.12,10km'] }),
        object({
          latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Degrees' }),
          longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Degrees' }),
          distance: Type.Number({ minimum: 0, description: 'Metres' }),
        }),
      ],
      { description: RADIUS },
    ),
  ),
});

/** The options in the form that search workers take. */
export function searchOptions(given: Static<typeof searchQuery> | Static<typeof searchBody>): SearchOptions {
  const { select, facets, skip, ...rest } = given;
  return {
    ...rest,
    ...(select === undefined || select === '' ? {} : { select: nameList(select) }),
    ...(facets === undefined || facets === '' ? {} : { facets: nameList(facets) }),
    ...(skip === undefined ? {} : { skip: Math.min(skip, SKIP_EFFECTIVE_MAX) }),
  };
}

function nameList(given: string | readonly string[]): readonly string[] {
  if (typeof given !== 'string') return given;
  return given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
