/**
 * The options of a search, each a row of `SEARCH_OPTIONS`. A row determines the schemas of the query string and of the
 * JSON body (and so the OpenAPI document and the command line's help), the form that search workers take, the default,
 * and the cache key. Plain data, so that a search thread needs no library for it.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import {
  FACET_SIZE_DEFAULT,
  FACET_SIZE_MAX,
  FIELDS_PER_LIST_MAX,
  QUERY_OPTION_CHARACTERS_MAX,
  SEARCH_SIZE_DEFAULT,
  SEARCH_SIZE_MAX,
} from '../../platform/index.js';
import type { FilterNode } from '../filter/filter-nodes.js';
import { BOX_LONGITUDE_MAX, boxFilter, type BoxObject } from './box.js';

const QUERY_CHARACTERS_MAX = 10_000;
const FILTER_CHARACTERS_MAX = 100_000;
const NAMES_CHARACTERS_MAX = 16_384;
const FIELD_NAME_LENGTH_MAX = 512;
/** Of `radius` and `box`. */
const PLACE_CHARACTERS_MAX = 200;
const FACET_QUERY_CHARACTERS_MAX = 200;
/** Larger than any list: record numbers have 32 bits. */
const SKIP_EFFECTIVE_MAX = 0xffff_ffff;

/** JSON Schema. */
export type OptionSchema = Readonly<Record<string, unknown>>;

export interface SearchOption<Value> {
  /** Schema in the query string, where text is coerced to the schema's type. */
  readonly schema: OptionSchema;
  /** Schema in the JSON body, if it allows other forms or longer values. */
  readonly bodySchema?: OptionSchema;
  /** Value if the option is not given. Undefined if there is no default. */
  readonly default?: Value;
  /** Set if every value costs the same: the option only selects what is shown, or is a vector like any other. */
  readonly isOfSameCost?: true;
  /** Set if blanks around the text have no meaning. */
  readonly isTrimmed?: true;
  /** Converts a value that either schema accepted for search workers. Undefined counts as not given. */
  read?(given: unknown): Value | undefined;
  /** Returns a condition on the records of each list, in addition to the filter. Throws `invalid-parameter`. */
  narrow?(value: Value, definition: FieldDefinition): FilterNode;
}

/** An option that always has a value. */
type WithDefault<Value> = SearchOption<Value> & { readonly default: Value };

const flag = (description: string, byDefault: boolean): WithDefault<boolean> => ({
  schema: { type: 'boolean', description },
  default: byDefault,
});

const ofSameCost = <Option extends object>(option: Option): Option & { readonly isOfSameCost: true } => ({
  ...option,
  isOfSameCost: true,
});

const floor = (kind: string, more = ''): WithDefault<number> => ({
  schema: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: `Lowest ${kind} score of a hit: hits below it are dropped${more}; default 0`,
  },
  default: 0,
});
/** Appended for floors of one kind of score: a hit with several kinds loses only that one. */
const OF_A_KIND = ', unless they also have another score; they are then returned without this one';

/**
 * Option with shorter limits in the query string than in the body, since the whole URL has a limit of its own (414).
 */
const text = (charactersMax: number, rest: OptionSchema): WithDefault<string> => ({
  schema: { type: 'string', maxLength: Math.min(charactersMax, QUERY_OPTION_CHARACTERS_MAX), ...rest },
  bodySchema: { type: 'string', maxLength: charactersMax, ...rest },
  default: '',
  isTrimmed: true,
});

const nameText = (maxLength: number, description: string, example: string): OptionSchema => ({
  type: 'string',
  maxLength,
  description: `${description}. Names are separated by commas`,
  examples: [example],
});
const nameArray: OptionSchema = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: FIELD_NAME_LENGTH_MAX },
  maxItems: FIELDS_PER_LIST_MAX,
};
const names = (description: string, example: string): SearchOption<readonly string[]> => ({
  schema: { ...nameText(QUERY_OPTION_CHARACTERS_MAX, description, example), 'x-separator': ',' },
  bodySchema: { anyOf: [nameText(NAMES_CHARACTERS_MAX, description, example), nameArray], description },
  read: (given) => {
    if (typeof given !== 'string') return given as readonly string[];
    return given === '' ? undefined : splitNames(given);
  },
});

function splitNames(given: string): readonly string[] {
  return given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

export interface RadiusObject {
  readonly latitude: number;
  readonly longitude: number;
  readonly distance: number;
}

const RADIUS =
  'Returns only records near a point, in lists with a `location_field`. As text: `latitude,longitude,distance`, in degrees, with the distance in `m`, `km` or `mi` (metres without a unit). In a JSON body also as an object of these three numbers';
const radiusText = { type: 'string', maxLength: PLACE_CHARACTERS_MAX };
const RADIUS_EXAMPLES = ['51.5,-0.12,10km'];
const radius: SearchOption<string | RadiusObject> = {
  schema: { ...radiusText, description: RADIUS, examples: RADIUS_EXAMPLES },
  bodySchema: {
    anyOf: [
      { ...radiusText, examples: RADIUS_EXAMPLES },
      {
        type: 'object',
        required: ['latitude', 'longitude', 'distance'],
        properties: {
          latitude: { type: 'number', minimum: -90, maximum: 90, description: 'In degrees' },
          longitude: { type: 'number', minimum: -180, maximum: 180, description: 'In degrees' },
          distance: { type: 'number', minimum: 0, description: 'In metres' },
        },
        additionalProperties: false,
      },
    ],
    description: RADIUS,
  },
};

const BOX =
  'Returns only records within a rectangle of a map, its borders included, in lists with a `location_field`. As text: `south,west,north,east`, in degrees. In a JSON body also as an object of these four numbers. A rectangle whose `west` is greater than its `east` crosses the antimeridian; longitudes beyond 180 degrees, as maps give them, mean the same places as those 360 degrees less';
const boxText = { type: 'string', maxLength: PLACE_CHARACTERS_MAX };
const BOX_EXAMPLES = ['51.3,-0.5,51.7,0.3'];
const latitude = { type: 'number', minimum: -90, maximum: 90, description: 'In degrees' };
const boxLongitude = {
  type: 'number',
  minimum: -BOX_LONGITUDE_MAX,
  maximum: BOX_LONGITUDE_MAX,
  description: 'In degrees',
};
const box: SearchOption<string | BoxObject> = {
  schema: { ...boxText, description: BOX, examples: BOX_EXAMPLES },
  bodySchema: {
    anyOf: [
      { ...boxText, examples: BOX_EXAMPLES },
      {
        type: 'object',
        required: ['south', 'west', 'north', 'east'],
        properties: { south: latitude, west: boxLongitude, north: latitude, east: boxLongitude },
        additionalProperties: false,
      },
    ],
    description: BOX,
  },
  narrow: (given) => boxFilter(given),
};

/** As many as a record's vector may have. */
const VECTOR_DIMENSIONS_MAX = 8192;
const VECTOR =
  'Vector to search for, in lists whose records are written with vectors (model `own`). It must have as many numbers as the vectors of the list. Without a query, the search finds the records nearest to it, and none in a list without such vectors';

const query: WithDefault<string> = {
  schema: {
    type: 'string',
    maxLength: QUERY_CHARACTERS_MAX,
    description: 'The search text. Without it, every record is a hit',
    examples: ['gannet dive'],
  },
  default: '',
  isTrimmed: true,
};
const match: WithDefault<'any' | 'all' | 'phrase'> = {
  schema: {
    type: 'string',
    enum: ['any', 'all', 'phrase'],
    description:
      'Which words of the query a hit must contain. `any`: at least one (default); `all`: all words, in any order; `phrase`: the words together and in order, exactly as typed',
  },
  default: 'any',
};
/** Separates two numbers in a query string. */
const BETWEEN_NUMBERS = /[\s,]+/;
const vector: SearchOption<readonly number[]> = {
  schema: {
    type: 'string',
    maxLength: QUERY_OPTION_CHARACTERS_MAX,
    description: `${VECTOR}. Numbers are separated by commas or spaces`,
    examples: ['0.1,0.7,-0.2'],
  },
  bodySchema: {
    type: 'array',
    items: { type: 'number' },
    minItems: 1,
    maxItems: VECTOR_DIMENSIONS_MAX,
    description: VECTOR,
    examples: [[0.1, 0.7, -0.2]],
  },
  read: (given) => {
    if (typeof given !== 'string') return given as readonly number[];
    const numbers = given.trim();
    return numbers === '' ? undefined : numbers.split(BETWEEN_NUMBERS).map(Number);
  },
};
const ranking: SearchOption<'none'> = {
  schema: {
    type: 'string',
    enum: ['none'],
    description: '`none`: hits are in the order in which records are stored, not in the order of scores',
  },
};
const facetSize: WithDefault<number> = {
  schema: {
    type: 'integer',
    minimum: 1,
    maximum: FACET_SIZE_MAX,
    description: `Most values to return for each facet, most frequent first; default ${FACET_SIZE_DEFAULT}`,
  },
  default: FACET_SIZE_DEFAULT,
};
const skip: WithDefault<number> = {
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Number of hits to skip; default 0. In the order of scores, a hit may be repeated or missed on the next page if records are written, or the index is merged, between the two requests, and in an approximate search by meaning (without `exact`) also while its filter is new; with `order_by` and without a query, only if records are written',
  },
  default: 0,
  read: (given) => Math.min(given as number, SKIP_EFFECTIVE_MAX),
};
const size: WithDefault<number> = {
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: SEARCH_SIZE_MAX,
    description: `Number of hits to return; default ${SEARCH_SIZE_DEFAULT}`,
  },
  default: SEARCH_SIZE_DEFAULT,
};

const fieldsBytesMax: SearchOption<number> = {
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Most bytes of JSON for the fields of each hit. Fields that do not fit are left out and named in `fields_left_out`; default: no limit',
    examples: [10_000],
  },
};

/** Options by the names that clients use. */
export const SEARCH_OPTIONS = {
  query,
  match,
  ranking,
  minimum_text_score: floor('text', OF_A_KIND),
  minimum_image_score: floor('image', OF_A_KIND),
  minimum_document_score: floor('document', OF_A_KIND),
  minimum_video_score: floor('video', OF_A_KIND),
  minimum_audio_score: floor('audio', OF_A_KIND),
  facet_size: ofSameCost(facetSize),
  highlight: ofSameCost(flag('Whether hits have `highlights`, with the found words marked; default true', true)),
  explain: ofSameCost(flag('Whether hits have `explain`, an explanation of their scores; default false', false)),
  typo_tolerance: flag('Whether misspelt words of the query are forgiven; default true', true),
  prefix: flag(
    'Whether the last word of the query may be unfinished, for search as you type: words that begin with it are found as well, ranked after the word itself; default false. No effect with `match=phrase`, or if a punctuation mark follows the word',
    false,
  ),
  search_fields: names(
    'Names of the searchable fields that are searched for the words of the query, as if the list had no other searchable field; default: all. Records are then found by words only, not by meaning, pages of documents or pictures. In a group, a list that has none of the fields finds nothing',
    'title,author',
  ),
  vector_search: flag(
    'Whether lists with a `model` are searched by meaning, too, and pictures are found by words if the `image_model` reads texts; default true. No effect on a list without such a model, and with `match=phrase`',
    true,
  ),
  vector: ofSameCost(vector),
  exact: flag(
    'Whether all vectors are compared one by one, which is exact but slower, instead of with the approximate vector index; default false',
    false,
  ),
  reranker: flag(
    'Whether the reranker of the list or group reorders the top results; default true. No effect without a reranker, or with `order_by` or `ranking`',
    true,
  ),
  cache: ofSameCost(flag('Whether a repeated request may be answered from the cache; default true', true)),
  analytics: ofSameCost(
    flag(
      'Whether the search counts in analytics and suggestions learn from it; default true. Set it to false for provisional searches, such as those sent while somebody types. They count towards the same limits as other searches',
      true,
    ),
  ),
  skip: ofSameCost(skip),
  size: ofSameCost(size),
  filter: text(FILTER_CHARACTERS_MAX, {
    description:
      'Filter expression: returns only records for which it holds. Conditions are `field op value` with the operators = != < <= > >= (or eq ne lt le gt ge), `field in (…)`, or `field = null`; join them with `and`, `or`, `not` and parentheses. A field is a facet, or `name`, `created_utc` or `modified_utc` of the record unless a facet has that name. Texts are quoted. If a facet has several values, a comparison holds if it holds for any of them; `!=` is the opposite of `=`, so it also holds for a record without a value',
    examples: ["year >= 1980 and genre in ('drama', 'comedy')"],
  }),
  order_by: text(NAMES_CHARACTERS_MAX, {
    description:
      'Order of the hits, instead of by score: up to 4 fields, separated by commas, each followed by `asc` or `desc`. A field is `name`, `created_utc`, `modified_utc`, a `Single` facet or, with `radius`, `distance`. Write a facet that has one of these names in backticks',
    examples: ['year desc, name asc'],
    'x-separator': ',',
  }),
  select: ofSameCost(names('Names of the fields to return; default: all', 'title,year')),
  fields_bytes_max: ofSameCost(fieldsBytesMax),
  facets: names('Names of the facets whose values are counted over all hits', 'genre'),
  facet_query: text(FACET_QUERY_CHARACTERS_MAX, {
    description:
      'Words that the returned values of `facets` have to match: each word must begin a word of the value, in any order, regardless of case and accents. All `facets` have to be facets of strings. Counts, hits and totals do not change. For fields in which people type the beginning of a brand or an author',
    examples: ['new bal'],
  }),
  disjunctive_facets: flag(
    'Whether the values of each facet are counted as if `filter` had no condition on that facet alone (only a condition that `and` joins to the others), for pages on which people choose several values of a facet; default false',
    false,
  ),
  distinct: {
    schema: {
      type: 'string',
      maxLength: FIELD_NAME_LENGTH_MAX,
      description:
        'Name of a `Single` facet, for one hit per value, such as one per product where each variant is a record: of the records that are found with the same value, only the one that comes first in the order of the hits. Records without a value are each a hit. `total_count`, `skip`, `size` and the counts of `facets` are of such hits, and each hit has a `distinct_count`. Values of strings are compared regardless of case, as in filters. In a group, records of several lists with the same value of a facet of this name and type are one hit, too; a list that lacks the facet, or has it as `Many`, keeps all its records',
      examples: ['product'],
    },
    default: '',
    isTrimmed: true,
  } satisfies WithDefault<string>,
  radius,
  box,
};
