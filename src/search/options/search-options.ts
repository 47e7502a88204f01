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

const QUERY_CHARACTERS_MAX = 10_000;
const FILTER_CHARACTERS_MAX = 100_000;
const NAMES_CHARACTERS_MAX = 16_384;
const FIELD_NAME_LENGTH_MAX = 512;
const RADIUS_CHARACTERS_MAX = 200;
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
    description: `Drops hits whose ${kind} score is below this${more}`,
  },
  default: 0,
});
/** Appended for floors of one kind of score: a hit with several kinds loses only that one. */
const OF_A_KIND = '. Hits that another kind of score found, too, stay, without this score';

/**
 * Option with shorter limits in the query string than in the body, since the whole URL has a limit of its own (414).
 */
const text = (charactersMax: number, rest: OptionSchema): WithDefault<string> => ({
  schema: { type: 'string', maxLength: QUERY_OPTION_CHARACTERS_MAX, ...rest },
  bodySchema: { type: 'string', maxLength: charactersMax, ...rest },
  default: '',
  isTrimmed: true,
});

const nameText = (maxLength: number, description: string, example: string): OptionSchema => ({
  type: 'string',
  maxLength,
  description: `${description}, separated by commas`,
  examples: [example],
});
const nameArray: OptionSchema = {
  type: 'array',
  items: { type: 'string', minLength: 1, maxLength: FIELD_NAME_LENGTH_MAX },
  maxItems: FIELDS_PER_LIST_MAX,
};
const names = (description: string, example: string): SearchOption<readonly string[]> => ({
  schema: nameText(QUERY_OPTION_CHARACTERS_MAX, description, example),
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
  'Keeps records near a point, of lists with a location_field: latitude, longitude and distance (m, km or mi; metres when bare), or an object of these three numbers';
const radiusText = { type: 'string', maxLength: RADIUS_CHARACTERS_MAX };
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
          latitude: { type: 'number', minimum: -90, maximum: 90, description: 'Degrees' },
          longitude: { type: 'number', minimum: -180, maximum: 180, description: 'Degrees' },
          distance: { type: 'number', minimum: 0, description: 'Metres' },
        },
        additionalProperties: false,
      },
    ],
    description: RADIUS,
  },
};

/** As many as a record's vector may have. */
const VECTOR_DIMENSIONS_MAX = 8192;
const VECTOR =
  "The vector of what is searched for, of lists whose records bring theirs (model 'own'): numbers, as many as the vectors of the list have. Without a query it finds what is near, and nothing in a list without such vectors";

const query: WithDefault<string> = {
  schema: {
    type: 'string',
    maxLength: QUERY_CHARACTERS_MAX,
    description: 'The search text; none: every record',
    examples: ['gannet dive'],
  },
  default: '',
  isTrimmed: true,
};
const match: WithDefault<'any' | 'all' | 'phrase'> = {
  schema: {
    type: 'string',
    enum: ['any', 'all', 'phrase'],
    description: '`any` word (default), `all` words in any order, or the `phrase`: words together, in order, as typed',
  },
  default: 'any',
};
/** Separates two numbers in a query string. */
const BETWEEN_NUMBERS = /[\s,]+/;
const vector: SearchOption<readonly number[]> = {
  schema: {
    type: 'string',
    maxLength: QUERY_OPTION_CHARACTERS_MAX,
    description: `${VECTOR}, separated by commas`,
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
  schema: { type: 'string', enum: ['none'], description: '`none`: in the order in which records are stored' },
};
const facetSize: WithDefault<number> = {
  schema: {
    type: 'integer',
    minimum: 1,
    maximum: FACET_SIZE_MAX,
    description: `Most frequent values of each facet; default ${FACET_SIZE_DEFAULT}`,
  },
  default: FACET_SIZE_DEFAULT,
};
const skip: WithDefault<number> = {
  schema: {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Hits to skip; default 0. In the order of scores, a hit may come twice or be missed if records are written, or the index is tidied, between two pages; in an order of fields without a query, only if records are written',
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
      'Most bytes of JSON for the fields of a hit: fields that do not fit are left out, and named in `fields_left_out`; default: no limit',
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
  highlight: ofSameCost(flag('Mark the words that were found, in `highlights`; default true', true)),
  explain: ofSameCost(flag('Explain each score; default false', false)),
  typo_tolerance: flag('Forgive misspellings; default true', true),
  prefix: flag(
    'Take the last word as unfinished, as while somebody types: words that begin with it are found as well, ranked after the word itself; default false. No effect with match=phrase, or if a punctuation mark follows the word',
    false,
  ),
  vector_search: flag(
    'Match by meaning, on lists with a model, and find pictures by words, where their model reads texts; default true. No effect on a list without one, and with match=phrase',
    true,
  ),
  vector: ofSameCost(vector),
  exact: flag('Compare all vectors one by one, instead of using the graph; default false', false),
  reranker: flag(
    'Reorder top results by relevance, on lists and groups with a reranker; default true. No effect without one, nor with order_by or ranking',
    true,
  ),
  cache: ofSameCost(flag('Whether a repeated request may be answered from memory; default true', true)),
  skip: ofSameCost(skip),
  size: ofSameCost(size),
  filter: text(FILTER_CHARACTERS_MAX, {
    description:
      'Conditions on facets, and on name, created_utc and modified_utc of the record where no facet is called so: `field op value` with = != < <= > >= (or eq ne lt le gt ge), `field in (…)`, `field = null`, joined by and, or, not and parentheses. Of a field with several values a comparison holds if any of them does; != is the contrary of =, and holds where there is no value',
    examples: ["year >= 1980 and genre in ('drama', 'comedy')"],
  }),
  order_by: text(NAMES_CHARACTERS_MAX, {
    description:
      'Up to 4 of name, created_utc, modified_utc, Single facets and, with radius, distance; each with asc or desc, separated by commas. Facets that are called like one of these are written in backticks',
    examples: ['year desc, name asc'],
  }),
  select: ofSameCost(names('Fields to return; default: all', 'title,year')),
  fields_bytes_max: ofSameCost(fieldsBytesMax),
  facets: names('Facets to count values of, over all hits', 'genre'),
  disjunctive_facets: flag(
    'Count the values of each facet as if `filter` had no condition on that facet alone (a condition that `and` joins to the others), for pages where people can choose several values of a facet; default false',
    false,
  ),
  radius,
};
