/** Schemas of lists and of the definitions of their fields. */
import { Type, type TProperties } from 'typebox';
import { FIELD_KINDS, RESOURCE_KINDS } from '../../fields/index.js';
import { FIELDS_PER_LIST_MAX } from '../../platform/index.js';
import {
  QUERY_RULES_MAX,
  RULE_FILTER_CHARACTERS_MAX,
  RULE_NAME_CHARACTERS_MAX,
  RULE_INSTRUCTIONS_MAX,
  RULE_PATTERN_CHARACTERS_MAX,
  RULE_TEXT_CHARACTERS_MAX,
} from '../../search/index.js';
import {
  accountName,
  fieldName,
  knownFieldName,
  listName,
  nullable,
  named,
  object,
  oneOf,
  patterned,
  timeSchema,
} from './schemas.js';
import { synonymRules } from './synonym-schemas.js';

const WEIGHT_MIN = 0.01;
const WEIGHT_MAX = 100;

const weight = Type.Number({
  minimum: WEIGHT_MIN,
  maximum: WEIGHT_MAX,
  description: 'Weight of a match in this field, compared with the other searchable fields; default 1',
  examples: [2],
});
const facetType = oneOf(
  FIELD_KINDS.map(({ type }) => type),
  { description: 'Type of the values' },
);
const cardinality = oneOf(['Single', 'Many'], {
  description:
    'Whether a record has one value (`Single`, the default) or several (`Many`). Only `Single` facets can be used in `order_by`',
});
const resourceKind = oneOf(RESOURCE_KINDS, { description: 'Kind of the linked file' });

export const searchableFieldInput = object({ name: fieldName, weight: Type.Optional(weight) });
export const facetInput = object({ name: fieldName, type: facetType, cardinality: Type.Optional(cardinality) });
export const resourceInput = object({ name: fieldName, kind: resourceKind });
/** In a definition of all fields, which may have some that the list has already. */
const ofDefinition = { name: knownFieldName };

export const searchableFieldResource = named(
  'SearchableField',
  { name: knownFieldName, weight },
  { description: 'A field whose text is searched' },
);
export const facetResource = named(
  'Facet',
  { name: knownFieldName, type: facetType, cardinality },
  { description: 'A field to filter by, to count values of, and to sort by' },
);
export const resourceResource = named(
  'ResourceField',
  { name: knownFieldName, kind: resourceKind },
  { description: 'A field that holds the URL of a file' },
);

const language = patterned('^([a-z]{2,3}|none)$', 'a language as two or three lower-case letters, or none', {
  description:
    'Language of the texts, for stemming, so that a search finds other forms of its words: a primary language tag of BCP 47, such as `de`. `none` turns stemming off. Languages with stemming are ar, bg, bs, ca, cs, da, de, el, en, es, eu, fa, fi, fr, ga, he, hi, hr, hu, hy, id, it, lt, nb, ne, nl, nn, no, pl, pt, ro, ru, sk, sl, sr, sv, ta, tr, uk and yi; texts in other languages are searched without it. Default `en`',
  examples: ['en'],
});
const engine = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'Search engine of the list. Only `managed`, which is this service, is available in this release; another one is refused (422)',
});
const locationField = nullable(knownFieldName, {
  description:
    'Name of the field that holds the location of a record as a point, for the search options `radius` and `box`. Null: none',
});
const model = nullable(Type.String({ minLength: 1, maxLength: 200 }), {
  description:
    'Name of the model for embeddings with which the list is searched by meaning, in addition to words. Null: by words only. `built-in` and `own` are always available; `own` uses the vectors that are written with the records. After a change, all vectors are computed again in the background, while the old ones are searched; the index of words does not change',
});
const reranker = nullable(Type.String({ minLength: 1, maxLength: 200 }), {
  description:
    'Name of the model that reorders the top results of a search. Null: results are in the order of their scores',
});
const suggestions = named(
  'SuggestionSettings',
  { require_click: Type.Boolean({ description: 'Whether only searches that led to a click are suggested' }) },
  { description: 'Settings of search suggestions' },
);
const queryRule = named(
  'QueryRule',
  {
    name: Type.String({
      minLength: 1,
      maxLength: RULE_NAME_CHARACTERS_MAX,
      description: 'Name of the rule, which `applied.query_rules` of a search contains if the rule applied',
    }),
    pattern: Type.String({
      minLength: 1,
      maxLength: RULE_PATTERN_CHARACTERS_MAX,
      description: `Regular expression (RE2 syntax) that may match anywhere in the first ${RULE_TEXT_CHARACTERS_MAX} characters of the search text. Case is ignored unless it begins with \`(?-i)\`. It must compile to at most ${RULE_INSTRUCTIONS_MAX} instructions`,
      examples: [String.raw`\b(\d{13})\b`],
    }),
    filter: Type.String({
      minLength: 1,
      maxLength: RULE_FILTER_CHARACTERS_MAX,
      description:
        'Filter expression that a match adds to the search. `$1` and `${name}` stand for the groups of the pattern, `$0` for the whole match, also within quotes. If a value does not fit the type of its facet, the rule does not apply',
      examples: ['barcode = $1'],
    }),
    keep: Type.Optional(
      Type.Boolean({ description: 'Whether the matched part stays in the search text; default false: it is removed' }),
    ),
  },
  { description: 'A rule that turns a part of the search text into a filter' },
);
const queryRules = Type.Array(queryRule, {
  maxItems: QUERY_RULES_MAX,
  description:
    'Rules that turn parts of the search text, such as a postcode, into a filter. Rules are applied in order, each once, to the text that the rules before it left',
});

/** Settings that a client may give; all optional. */
export const listSettings = {
  engine: Type.Optional(engine),
  language: Type.Optional(language),
  searchable_fields: Type.Optional(
    Type.Array(object({ ...searchableFieldInput.properties, ...ofDefinition }), {
      maxItems: FIELDS_PER_LIST_MAX,
      description: "Fields whose text is searched. `name` stands for the record's name",
      examples: [[{ name: 'title', weight: 2 }, { name: 'text' }]],
    }),
  ),
  facets: Type.Optional(
    Type.Array(object({ ...facetInput.properties, ...ofDefinition }), {
      maxItems: FIELDS_PER_LIST_MAX,
      description: 'Fields to filter by, to count values of, and to sort by',
      examples: [[{ name: 'year', type: 'number', cardinality: 'Single' }]],
    }),
  ),
  resources: Type.Optional(
    Type.Array(object({ ...resourceInput.properties, ...ofDefinition }), {
      maxItems: FIELDS_PER_LIST_MAX,
      description:
        'Fields that hold the URL of a file. The content of the file is searched, too: the text of a PDF; a picture, if the list has an `image_model`; tags and subtitles of a recording and, if the list has a `transcription_model`, its speech',
    }),
  ),
  location_field: Type.Optional(locationField),
  query_rules: Type.Optional(queryRules),
  synonym_rules: Type.Optional(synonymRules),
  model: Type.Optional(model),
  reranker: Type.Optional(reranker),
  suggestions: Type.Optional(suggestions),
} satisfies TProperties;

const version = Type.Integer({ minimum: 1, description: 'Number of the version' });

const versionResource = named(
  'ListVersion',
  {
    version,
    state: oneOf(['building', 'ready'], {
      description: '`building`: records are still being added to the version; `ready`: it is complete',
    }),
    record_count: Type.Integer({ minimum: 0, description: 'Number of records of the version' }),
    created_utc: timeSchema('Time at which the version was created'),
    unfit: Type.Optional(
      Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
        description:
          'Number of records, by field, whose value did not fit the type of the field when this version was built. Later writes do not change the number. The records keep the value, but filters, facets and `order_by` ignore it. Absent if every value fit',
        examples: [{ price: 12 }],
      }),
    ),
  },
  { description: 'A version of a list: its records, indexed by one definition of the fields' },
);

const meaning = named(
  'MeaningState',
  {
    state: oneOf(['off', 'ready', 'embedding', 'failing'], {
      description:
        '`off`: the list has no model; `ready`: all vectors are searched; `embedding`: some records have no vectors of the model yet, or the index of the vectors is being rebuilt; `failing`: the model fails, or the index of the vectors could not be built. Both are tried again automatically',
    }),
    embedded: Type.Integer({ minimum: 0, description: 'Number of records of the current version that have vectors' }),
    pending: Type.Integer({ minimum: 0, description: 'Number of records whose vectors are still to be computed' }),
    failed: Type.Integer({
      minimum: 0,
      description:
        'Number of records that could not be embedded. `POST /list/embed-retry/{account}/{list}` tries them again',
    }),
    error: Type.Optional(
      Type.String({
        description:
          'The last error of the model, the reason why vectors are not searched now, or the most frequent reason why records failed: `no-text`, `unknown-words` (the built-in model knows no word of the record), `too-long`, `refused` (by the model), `wrong-dimensions`, `no-direction` (a vector of zeros), `error` (of the service; see its log). At most 1,000 characters. Absent if nothing is wrong',
      }),
    ),
  },
  {
    description:
      'State of the vectors of the list, for search by meaning. Absent while the index of the list is being rebuilt',
  },
);

/** What a list is, alone and among others; features add members to both (`extended-lists.ts`). */
export const LIST = { description: 'A list of records: its settings, fields, versions and state' } as const;
export const LISTED = { description: 'A list among all lists of an account' } as const;

export const listResource = named(
  'List',
  {
    name: listName,
    account: accountName,
    engine,
    language,
    searchable_fields: Type.Array(searchableFieldResource, { description: 'Fields whose text is searched' }),
    facets: Type.Array(facetResource, { description: 'Fields to filter by, to count values of, and to sort by' }),
    resources: Type.Array(resourceResource, { description: 'Fields that hold the URL of a file' }),
    location_field: locationField,
    fields_inferred: oneOf(['no', 'pending', 'yes'], {
      description:
        'Whether the fields were inferred from the records. `pending`: the list was created without fields, and they will be inferred from its first records; `yes`: they were inferred; `no`: a client defined them',
    }),
    query_rules: queryRules,
    synonym_rules: synonymRules,
    model,
    meaning: Type.Optional(meaning),
    reranker,
    suggestions,
    current_version: Type.Integer({
      minimum: 1,
      description: 'Number of the current version, which writes go to. Searches name it in their path',
    }),
    versions: Type.Array(versionResource, {
      description:
        'Versions of the list, each of which can be searched by its number. While one is `building`, the members for fields of this list are those of the version being built',
    }),
    record_count: Type.Integer({ minimum: 0, description: 'Number of records of the current version' }),
    created_utc: timeSchema('Time at which the list was created'),
    modified_utc: timeSchema(
      'Time of the last change of settings or fields; inferring fields from the first records does not count',
    ),
  },
  LIST,
);

/** Members left out of a listing without rules. */
export const RULES = ['query_rules', 'synonym_rules'] as const;

const { query_rules: queryRulesMember, synonym_rules: synonymRulesMember, ...listedMembers } = listResource.properties;

/** A list in a listing. */
export const listedList = named(
  'ListedList',
  {
    ...listedMembers,
    query_rules: Type.Optional(queryRulesMember),
    synonym_rules: Type.Optional(synonymRulesMember),
  },
  LISTED,
);

/** Lists that cannot be opened are reported apart, and do not fail the listing. */
export const unavailableLists = Type.Array(
  object({
    name: listName,
    code: Type.String({
      description: 'Code of the error that a request for this list gets',
      examples: ['list-missing'],
    }),
    detail: Type.String({ description: 'What is wrong with the list, and what to do about it' }),
  }),
  { description: 'Lists that cannot be opened, and are therefore missing from `lists`. Absent if there are none' },
);

const READ_ONLY = 'Read-only; ignored';

/** Read-only members. A PUT may contain them as returned by GET; they are ignored. */
export const readOnlyListMembers = {
  account: Type.Optional(accountName),
  meaning: Type.Optional(meaning),
  fields_inferred: Type.Optional(listResource.properties.fields_inferred),
  current_version: Type.Optional(Type.Integer({ minimum: 1, description: READ_ONLY })),
  versions: Type.Optional(Type.Array(versionResource, { description: READ_ONLY })),
  record_count: Type.Optional(Type.Integer({ minimum: 0, description: READ_ONLY })),
  created_utc: Type.Optional(timeSchema(READ_ONLY)),
  modified_utc: Type.Optional(timeSchema(READ_ONLY)),
} satisfies TProperties;
