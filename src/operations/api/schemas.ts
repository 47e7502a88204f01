/** Building blocks of schemas. Every object refuses members that it does not name. */
import { Type, type Static, type TObjectOptions, type TProperties, type TSchema, type TStringOptions } from 'typebox';
import {
  FIELD_NAME_CHARACTERS_MAX,
  NAME_PATTERN_SOURCE,
  NAME_PATTERN_WORDS,
  RECORD_NAME_CHARACTERS_MAX,
  URL_CHARACTERS_MAX,
  WEB_SCHEME_PATTERN,
  type Page,
  type WantedPage,
} from '../../platform/index.js';

/** An object with exactly these members. */
export function object<Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Like `object`, with a name under which it appears in API descriptions and generated clients. */
export function named<Properties extends TProperties>(
  title: string,
  properties: Properties,
  options: TObjectOptions = {},
) {
  return object(properties, { title, ...options });
}

/** One of these words. */
export function oneOf<const Words extends readonly string[]>(words: Words, options: { description?: string } = {}) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...options });
}

/** A row of a table of kinds: a word, with the members that belong to it. */
export interface KindRow {
  /** Follows the word in the description of the choice. */
  readonly described: string;
  /** Members that this kind requires, and optional ones. Others are not allowed with it. */
  readonly needed: readonly string[];
  readonly others: readonly string[];
}

/**
 * One of the words of a table of kinds. The schema lists the members of each as `x-members`, from which the console
 * builds forms.
 */
export function oneKindOf<Word extends string>(rows: Readonly<Record<Word, KindRow>>) {
  const kinds = Object.entries<KindRow>(rows);
  return Type.Unsafe<Word>({
    type: 'string',
    enum: kinds.map(([word]) => word),
    description: kinds.map(([word, { described }]) => `\`${word}\`: ${described}`).join('; '),
    'x-members': Object.fromEntries(kinds.map(([word, { needed, others }]) => [word, { needed, others }])),
  });
}

/** Or null. Described as its schema is, unless `options` says otherwise: what documents and forms show is the description of the whole. */
export function nullable<Schema extends TSchema>(schema: Schema, options: { description?: string } = {}) {
  const { description } = schema as { readonly description?: string };
  return Type.Union([schema, Type.Null()], { ...(description === undefined ? {} : { description }), ...options });
}

export const timeSchema = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-21T05:54:00.000Z'] });

/**
 * A text with a pattern, and a description of it (`x-allowed`) that completes a sentence beginning with "Must be".
 * Messages show only the description. All patterns in schemas come from here.
 */
export function patterned(pattern: string, allowed: string, options: TStringOptions = {}) {
  return Type.String({ pattern, 'x-allowed': allowed, ...options });
}

export const nameSchema = (description: string, example: string) =>
  patterned(NAME_PATTERN_SOURCE, NAME_PATTERN_WORDS, { description, examples: [example] });

/** Home region of an account, also contained in its keys. */
export const regionSchema = (description: string) =>
  patterned(
    '^[a-z0-9][a-z0-9\\-]{0,15}$',
    '1 to 16 lower-case letters, digits and hyphens, the first a letter or digit',
    {
      description,
      examples: ['eu'],
    },
  );

/** A URL on the web, as far as a pattern can tell. */
export const webUrl = (description: string, example: string) =>
  patterned(`^${WEB_SCHEME_PATTERN}[^\\s\\/?#]+[^\\s]*$`, 'a URL that begins with https:// or http://', {
    maxLength: URL_CHARACTERS_MAX,
    description,
    examples: [example],
  });

export const accountName = nameSchema('Name of the account', 'default');
export const listName = nameSchema('Name of the list', 'films');
export const groupName = nameSchema('Name of the group', 'media');

/**
 * Excludes quotes, commas, backticks and control characters, since filters and order_by could not name such a field,
 * and `__proto__`, which no record can have.
 */
const FIELD_NAME_PATTERN = '^(?!__proto__$)(?![@\\s])[^\\u0000-\\u001f\\u007f"\'`,]*[^\\u0000-\\u001f\\u007f"\'`,\\s]$';
const FIELD_NAME_WORDS =
  'any text without quotes, backticks, commas and control characters that neither starts with @ nor starts or ends with a blank; not __proto__';
export const fieldName = patterned(FIELD_NAME_PATTERN, FIELD_NAME_WORDS, {
  minLength: 1,
  maxLength: FIELD_NAME_CHARACTERS_MAX,
  description: `Name of the field: ${FIELD_NAME_WORDS}`,
  examples: ['title'],
});

/**
 * Name of a field that a list has. The fields of a list may be taken from its first records, whose members may be called
 * otherwise than a field that somebody defines.
 */
export const knownFieldName = Type.String({
  minLength: 1,
  maxLength: FIELD_NAME_CHARACTERS_MAX,
  description: `Name of the field. A new one is ${FIELD_NAME_WORDS}`,
  examples: ['title'],
});

const FIELD_NAME = new RegExp(FIELD_NAME_PATTERN, 'u');

/** Returns what is wrong with the name of a new field, or undefined. */
export function newFieldNameFault(name: string): string | undefined {
  return FIELD_NAME.test(name)
    ? undefined
    : `Must be ${FIELD_NAME_WORDS}, such as "title", not ${JSON.stringify(name)}.`;
}

export const recordName = Type.String({
  minLength: 1,
  maxLength: RECORD_NAME_CHARACTERS_MAX,
  description: "Name of the record: the client's own key, unique within a version of the list",
  examples: ['film-17'],
});

export const accountParams = object({ account: accountName });
export const listParams = object({ account: accountName, list: listName });
export const groupParams = object({ account: accountName, group: groupName });
export const noParams = object({});

/** Entries listed by one call. */
const LISTED_MAX = 1000;
const CURSOR_CHARACTERS_MAX = 512;

/** Options of every listing. */
export const pageQuery = object({
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CURSOR_CHARACTERS_MAX,
      description: '`next` of the previous page; without it, the first page',
    }),
  ),
  size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LISTED_MAX, description: `Most entries on a page; default ${LISTED_MAX}` }),
  ),
});

/** Member that continues a listing. */
export const nextPage = Type.Optional(
  Type.String({ description: 'Value of `after` for the next page; absent on the last page' }),
);

/** Returns the requested page. */
export function wantedPage({ after, size = LISTED_MAX }: Static<typeof pageQuery>): WantedPage {
  return { size, ...(after === undefined ? {} : { after }) };
}

/** Returns `next` as a member of the answer. */
export function nextOf({ next }: Pick<Page<unknown>, 'next'>): { readonly next?: string } {
  return next === undefined ? {} : { next };
}
