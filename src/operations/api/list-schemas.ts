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
import { accountName, fieldName, listName, nullable, named, object, oneOf, patterned, timeSchema } from './schemas.js';
import { synonymRules } from './synonym-schemas.js';

const WEIGHT_MIN = 0.01;
const WEIGHT_MAX = 100;

const weight = Type.Number({
  minimum: WEIGHT_MIN,
  maximum: WEIGHT_MAX,
  description: 'How much a match in this field counts beside the others; default 1',
  examples: [2],
});
const facetType = oneOf(
  FIELD_KINDS.map(({ type }) => type),
  { description: 'What the values are' },
);
const cardinality = oneOf(['Single', 'Many'], {
  description: 'One value a record, or several; only Single facets can be sorted by. Default Single',
});
const resourceKind = oneOf(RESOURCE_KINDS, { description: 'What the linked file is' });

export const searchableFieldInput = object({ name: fieldName, weight: Type.Optional(weight) });
export const facetInput = object({ name: fieldName, type: facetType, cardinality: Type.Optional(cardinality) });
export const resourceInput = object({ name: fieldName, kind: resourceKind });

export const searchableFieldResource = named('SearchableField', { name: fieldName, weight });
export const facetResource = named('Facet', { name: fieldName, type: facetType, cardinality });
export const resourceResource = named('ResourceField', { name: fieldName, kind: resourceKind });

const language = patterned('^([a-z]{2,3}|none)$', 'a language as two or three lower-case letters, or none', {
  description: 'BCP 47 primary tag of the language of the texts, for stemming; `none` turns stemming off. Default `en`',
  examples: ['en'],
});
const engine = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'Where the list is searched; `managed` is this service, and the only engine in this release: 422 otherwise',
});
const locationField = nullable(fieldName, { description: 'The field that holds a point, for the radius option' });
const model = nullable(Type.String({ minLength: 1, maxLength: 200 }), {
  description:
    'Name of the model by whose vectors the list is searched by meaning, beside words; null: by words alone. `own`, which is always there, takes the vectors that come with the records. A change computes all vectors again in the background, while the old ones serve; the index of words stays as it is',
});
const reranker = nullable(Type.String({ minLength: 1, maxLength: 200 }), {
  description: 'Name of the model that puts the best results of a search in its order; null: that of the scores',
});
const suggestions = named(
  'SuggestionSettings',
  { require_click: Type.Boolean({ description: 'Suggest only searches that led to a click' }) },
  { description: 'Settings of suggestions' },
);
const queryRule = named('QueryRule', {
  name: Type.String({ minLength: 1, maxLength: RULE_NAME_CHARACTERS_MAX, description: 'Shown where it applied' }),
  pattern: Type.String({
    minLength: 1,
    maxLength: RULE_PATTERN_CHARACTERS_MAX,
    description: `RE2 expression, looked for anywhere in the first ${RULE_TEXT_CHARACTERS_MAX} characters of the search text; case is ignored unless it begins with \`(?-i)\`. Compiles to ${RULE_INSTRUCTIONS_MAX} instructions at most`,
    examples: [String.raw`\b(\d{13})\b`],
  }),
  filter: Type.String({
    minLength: 1,
    maxLength: RULE_FILTER_CHARACTERS_MAX,
    description:
      'Filter that a match adds. `$1`, `${name}` and `$0` (all that matched) stand for values, also within quotes; where one does not fit the type of its facet, the rule does not apply',
    examples: ['barcode = $1'],
  }),
  keep: Type.Optional(
    Type.Boolean({ description: 'Leave the matched part in the search text; default false: it is removed' }),
  ),
});
const queryRules = Type.Array(queryRule, {
  maxItems: QUERY_RULES_MAX,
  description:
    'Parts of the search text that become filters, such as postcodes. They apply in their order, each once, to what those before it left',
});

/** Settings that a client may give; all optional. */
export const listSettings = {
  engine: Type.Optional(engine),
  language: Type.Optional(language),
  searchable_fields: Type.Optional(
    Type.Array(searchableFieldInput, {
      maxItems: FIELDS_PER_LIST_MAX,
      description: "Fields whose words are searched; `name` stands for the record's name",
      examples: [[{ name: 'title', weight: 2 }, { name: 'text' }]],
    }),
  ),
  facets: Type.Optional(
    Type.Array(facetInput, {
      maxItems: FIELDS_PER_LIST_MAX,
      description: 'Fields to filter, count and sort by',
      examples: [[{ name: 'year', type: 'number', cardinality: 'Single' }]],
    }),
  ),
  resources: Type.Optional(
    Type.Array(resourceInput, {
      maxItems: FIELDS_PER_LIST_MAX,
      description:
        'Fields that hold the URL of a file. What is in it is read and searched: the text of a PDF, a picture with an `image_model`, and of a recording its tags, its subtitles and, with a `transcription_model`, what is said',
    }),
  ),
  location_field: Type.Optional(locationField),
  query_rules: Type.Optional(queryRules),
  synonym_rules: Type.Optional(synonymRules),
  model: Type.Optional(model),
  reranker: Type.Optional(reranker),
  suggestions: Type.Optional(suggestions),
} satisfies TProperties;

const version = Type.Integer({ minimum: 1 });

const versionResource = named('ListVersion', {
  version,
  state: oneOf(['building', 'ready'], { description: '`building` until every record is in it' }),
  record_count: Type.Integer({ minimum: 0 }),
  created_utc: timeSchema('When the version was made'),
  unfit: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
      description:
        'Records that had a value of another kind than the fields of this version say when it was built, by field: as each was when it was read for that, whatever is written later. They keep it, and no filter, facet or order sees it. Absent where none had',
      examples: [{ price: 12 }],
    }),
  ),
});

const meaning = named(
  'MeaningState',
  {
    state: oneOf(['off', 'ready', 'embedding', 'failing'], {
      description:
        '`off`: the list has no model; `embedding`: some records have no vectors yet, or not those of the model, or the index of those that they have is being made again; `failing`: the model does not do what it is asked for, or that index could not be made; both are tried again',
    }),
    embedded: Type.Integer({ minimum: 0, description: 'Records of the current version that have vectors' }),
    pending: Type.Integer({ minimum: 0, description: 'Records that will have' }),
    failed: Type.Integer({
      minimum: 0,
      description: 'Records that could not be embedded; `POST /list/embed-retry` tries them again',
    }),
    error: Type.Optional(
      Type.String({
        description:
          'What the model complained of last, why no vectors are searched now, or, in a word, the most frequent reason of what failed: `no-text`, `unknown-words` (the built-in model knows none of a record), `too-long`, `refused` (by the model), `wrong-dimensions`, `no-direction` (a vector of zeros), `error` (of the service: its log says which); at most 1,000 characters',
      }),
    ),
  },
  { description: 'Vectors of the list; absent while its index is being rebuilt' },
);

export const listResource = named('List', {
  name: listName,
  account: accountName,
  engine,
  language,
  searchable_fields: Type.Array(searchableFieldResource),
  facets: Type.Array(facetResource),
  resources: Type.Array(resourceResource),
  location_field: locationField,
  fields_inferred: oneOf(['no', 'pending', 'yes'], {
    description:
      '`pending`: the list was made without fields and its first records will settle them; `yes`: they did; `no`: a client named the fields',
  }),
  query_rules: queryRules,
  synonym_rules: synonymRules,
  model,
  meaning: Type.Optional(meaning),
  reranker,
  suggestions,
  current_version: Type.Integer({ minimum: 1, description: 'The version that writes go to' }),
  versions: Type.Array(versionResource, {
    description: 'Searchable by their number; while one is building, the fields above are those that it will have',
  }),
  record_count: Type.Integer({ minimum: 0, description: 'Records of the current version' }),
  created_utc: timeSchema('When the list was made'),
  modified_utc: timeSchema(
    'When its settings or fields were changed last; fields that its first records settle are no change',
  ),
});

/** Members left out of a listing without rules. */
export const RULES = ['query_rules', 'synonym_rules'] as const;

const { query_rules: queryRulesMember, synonym_rules: synonymRulesMember, ...listedMembers } = listResource.properties;

/** A list in a listing. */
export const listedList = named('ListedList', {
  ...listedMembers,
  query_rules: Type.Optional(queryRulesMember),
  synonym_rules: Type.Optional(synonymRulesMember),
});

/** Lists that cannot be opened are reported apart, and do not fail the listing. */
export const unavailableLists = Type.Array(
  object({
    name: listName,
    code: Type.String({ description: 'Code of the error that a call for the list gets', examples: ['list-missing'] }),
    detail: Type.String({ description: 'What is wrong, and what to do' }),
  }),
  { description: 'Lists that are not among `lists`, because they cannot be opened; absent where there is none' },
);

/** Read-only members. A PUT may contain them as returned by GET; they are ignored. */
export const readOnlyListMembers = {
  account: Type.Optional(accountName),
  meaning: Type.Optional(meaning),
  fields_inferred: Type.Optional(listResource.properties.fields_inferred),
  current_version: Type.Optional(version),
  versions: Type.Optional(Type.Array(versionResource)),
  record_count: Type.Optional(Type.Integer({ minimum: 0 })),
  created_utc: Type.Optional(timeSchema('Read-only')),
  modified_utc: Type.Optional(timeSchema('Read-only')),
} satisfies TProperties;
