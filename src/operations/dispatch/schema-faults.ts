/** Describes Ajv's errors in sentences that name the place, the value and what is allowed. */
import type { ErrorObject } from 'ajv/dist/2020.js';
import {
  didYouMean,
  ERROR_PLACE_CHARACTERS_MAX,
  ERROR_PLACES_MAX,
  ERROR_VALUE_CHARACTERS_MAX,
  toldText,
  type ErrorPlace,
} from '../../platform/index.js';

interface PlainSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
  /** Description of a pattern (`patterned`). */
  readonly 'x-allowed'?: string;
  /** True for a secret, which is not repeated in errors. */
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly PlainSchema[];
}

/** With more allowed words, only the probably meant one is named, if there is one. */
const WORDS_TOLD_MAX = 12;
/** Number of members that an error lists; a search has 25. */
const MEMBERS_TOLD_MAX = 30;

const TYPE_WORDS: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

/**
 * Returns one sentence for each faulty place, in the order found, at most `ERROR_PLACES_MAX`. `root` is the checked
 * value.
 */
export function describeFaults(
  errors: readonly ErrorObject[],
  kind: 'parameter' | 'body',
  root: unknown,
): ErrorPlace[] {
  const places: ErrorPlace[] = [];
  const seen = new Set<string>();
  for (const error of onceAText(withoutAlternatives(errors, root))) {
    if (places.length === ERROR_PLACES_MAX) break;
    const path = toldText(pathOf(error), ERROR_PLACE_CHARACTERS_MAX);
    const place = { ...placeOf(path, kind), detail: detailOf(error, kind, root) };
    const identity = `${path} ${place.detail}`;
    if (!seen.has(identity)) places.push(place);
    seen.add(identity);
  }
  return places;
}

/** Faults of one text by precedence: one that is empty, or no date, mostly does not match its pattern either. */
const TEXT_FAULTS = ['minLength', 'maxLength', 'format', 'pattern'];

/** Keeps only the first by precedence of several faults of one text. */
function onceAText(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const plainest = new Map<string, number>();
  for (const { instancePath, keyword } of errors) {
    const rank = TEXT_FAULTS.indexOf(keyword);
    if (rank !== -1) plainest.set(instancePath, Math.min(rank, plainest.get(instancePath) ?? rank));
  }
  return errors.filter(({ instancePath, keyword }) => {
    const rank = TEXT_FAULTS.indexOf(keyword);
    return rank === -1 || rank === plainest.get(instancePath);
  });
}

/**
 * Reduces the faults of values that fit no alternative, for which Ajv reports those of each. Keeps the faults of the
 * alternative that was meant: the one of the value's type and, of several objects, the one whose members it has.
 * Otherwise, and for an object without members, keeps the sentence about the alternatives.
 */
function withoutAlternatives(errors: readonly ErrorObject[], root: unknown): readonly ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  errors.forEach((union, end) => {
    if (union.keyword !== 'anyOf' && union.keyword !== 'oneOf') return;
    // Ajv puts them right before the union, so each union is only compared with its own faults.
    let begin = end;
    while (begin > 0 && isWithin(union, errors[begin - 1])) begin -= 1;
    const branches = new Map<string, ErrorObject[]>();
    for (const error of errors.slice(begin, end)) {
      if (dropped.has(error)) continue;
      const branch = error.schemaPath.slice(union.schemaPath.length + 1).split('/')[0] ?? '';
      const found = branches.get(branch);
      if (found === undefined) branches.set(branch, [error]);
      else found.push(error);
      dropped.add(error);
    }
    const ofItsType = [...branches.values()].filter((branch) => !branch.some((error) => isOtherKind(error, union)));
    const meant = nearestInMembers(ofItsType, union);
    if (meant === undefined || (ofItsType.length > 1 && isBare(valueAt(root, union.instancePath)))) return;
    for (const error of meant) dropped.delete(error);
    dropped.add(union);
  });
  return errors.filter((error) => !dropped.has(error));
}

/** True for an empty object, which does not tell which of several alternatives was meant. */
function isBare(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** True for a fault of an alternative of the union. */
function isWithin(union: ErrorObject, error: ErrorObject | undefined): boolean {
  if (error?.schemaPath.startsWith(`${union.schemaPath}/`) !== true) return false;
  return error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`);
}

/** Returns the branch with the fewest missing or unknown members; the first of several such. */
function nearestInMembers(branches: readonly ErrorObject[][], union: ErrorObject): readonly ErrorObject[] | undefined {
  const strangers = (branch: readonly ErrorObject[]): number =>
    branch.filter(({ instancePath, keyword }) => instancePath === union.instancePath && MEMBER_FAULTS.includes(keyword))
      .length;
  return branches.toSorted((a, b) => strangers(a) - strangers(b))[0];
}

const MEMBER_FAULTS = ['required', 'additionalProperties', 'unevaluatedProperties'];

function isOtherKind(error: ErrorObject, union: ErrorObject): boolean {
  return error.instancePath === union.instancePath && ['type', 'const', 'enum'].includes(error.keyword);
}

/** Returns the RFC 6901 pointer of the faulty place: of the member itself if it is missing or unknown. */
function pathOf(error: ErrorObject): string {
  const params = error.params as {
    missingProperty?: string;
    additionalProperty?: string;
    unevaluatedProperty?: string;
  };
  const member = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  if (member === undefined) return error.instancePath;
  return `${error.instancePath}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function placeOf(path: string, kind: 'parameter' | 'body'): { pointer: string } | { parameter: string } {
  if (kind === 'body') return { pointer: path };
  const name = path.split('/')[1] ?? '';
  return { parameter: name.replaceAll('~1', '/').replaceAll('~0', '~') };
}

function detailOf(error: ErrorObject, kind: 'parameter' | 'body', root: unknown): string {
  const params = error.params as Readonly<Record<string, unknown>>;
  const value = 'data' in error ? error.data : valueAt(root, error.instancePath);
  const schema = (error.parentSchema ?? {}) as PlainSchema;
  switch (error.keyword) {
    case 'required':
      return 'Must be given.';
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const word = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      const noun = kind === 'body' ? 'member' : 'option';
      return `Unknown ${noun} '${shorten(word)}'.${meantOrKnown(word, Object.keys(schema.properties ?? {}), noun)}`;
    }
    case 'type':
      return `Must be ${[params['type']].flat().map(typeWord).join(' or ')}${withMembers(schema)}, not ${shown(value)}.`;
    case 'const':
      return `Must be ${JSON.stringify(params['allowedValue'])}, not ${shown(value)}.`;
    case 'enum':
      return oneOf(params['allowedValues'] as readonly unknown[], value);
    case 'anyOf':
    case 'oneOf':
      return alternatives(schema, value);
    case 'minimum':
      return `Must be at least ${String(params['limit'])}, not ${shown(value)}.`;
    case 'maximum':
      return `Must be at most ${String(params['limit'])}, not ${shown(value)}.`;
    case 'minLength':
      if (params['limit'] === 1) return 'Must not be empty.';
      // The description of what is allowed says more than the minimum length.
      if (schema['x-allowed'] !== undefined) return patternFault(value, schema);
      return `Must have at least ${String(params['limit'])} characters.`;
    case 'maxLength':
      return `Must have at most ${String(params['limit'])} characters.`;
    case 'minItems':
      return params['limit'] === 1 ? 'Must not be empty.' : `Must have at least ${String(params['limit'])} items.`;
    case 'maxItems':
      return `Must have at most ${String(params['limit'])} items.`;
    case 'uniqueItems':
      return sameItems(Number(params['i']), Number(params['j']));
    case 'pattern':
      return patternFault(value, schema);
    case 'format':
      return `Must be ${formatWord(String(params['format']))}, not ${shown(value)}.`;
    default:
      return `${capitalised(error.message ?? 'is not valid')}.`;
  }
}

/** Returns the probably meant name or, if none is near, the known ones. */
function meantOrKnown(word: string, known: readonly string[], noun: string): string {
  // Many libraries write several values, or the members of an object, with brackets.
  const [, bare = ''] = /^([^[\]]+)\[/.exec(word) ?? [];
  if (noun === 'option' && known.includes(bare)) return ` Did you mean '${bare}', without brackets?`;
  const meant = didYouMean(word, known);
  if (meant !== '' || known.length === 0) return meant;
  const more = known.length > MEMBERS_TOLD_MAX ? `, and ${known.length - MEMBERS_TOLD_MAX} more` : '';
  return ` There ${known.length === 1 ? `is the ${noun}` : `are the ${noun}s`} ${known.slice(0, MEMBERS_TOLD_MAX).join(', ')}${more}.`;
}

/** Ajv orders the two indexes differently for objects and other values. */
function sameItems(one: number, other: number): string {
  return `Items ${Math.min(one, other)} and ${Math.max(one, other)} are the same, counted from 0; each may be there once.`;
}

/** Names the required members of an object, for clients that gave a name instead of an object. */
function withMembers({ type, required = [] }: PlainSchema): string {
  if (type !== 'object' || required.length === 0) return '';
  return ` with the member${required.length === 1 ? '' : 's'} ${required.map((name) => `'${name}'`).join(' and ')}`;
}

/** Describes a pattern in words and by an example, since few people can read the pattern itself. */
function patternFault(value: unknown, { 'x-allowed': allowed, examples = [], writeOnly }: PlainSchema): string {
  const [example] = examples;
  const such = example === undefined ? '' : `, such as ${shown(example)}`;
  const not = writeOnly === true ? '' : `, not ${shown(value)}`;
  return `Must be ${allowed ?? 'of another form'}${such}${not}.`;
}

function alternatives(schema: PlainSchema, value: unknown): string {
  const branches = schema.anyOf ?? [];
  if (isBare(value) && branches.every(({ required = [] }) => required.length > 0))
    return `Must have ${branches.map(({ required = [] }) => named(required)).join(', or ')}.`;
  const constants = branches.flatMap(constantsOf);
  if (constants.length > 0 && branches.every((branch) => constantsOf(branch).length > 0)) {
    return oneOf(constants, value);
  }
  const words = branches.flatMap((branch) =>
    constantsOf(branch).length > 0
      ? constantsOf(branch).map((constant) => JSON.stringify(constant))
      : [branch.type ?? 'value'].flat().map(typeWord),
  );
  return words.length === 0
    ? 'Is of no allowed form.'
    : `Must be ${[...new Set(words)].join(' or ')}, not ${shown(value)}.`;
}

/** Such as `'a', 'b' and 'c'`. */
function named(members: readonly string[]): string {
  const words = members.map((member) => `'${member}'`);
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}

function constantsOf(schema: PlainSchema): readonly unknown[] {
  return 'const' in schema ? [schema.const] : (schema.enum ?? []);
}

function oneOf(allowed: readonly unknown[], value: unknown): string {
  const hint =
    typeof value === 'string'
      ? didYouMean(
          value,
          allowed.filter((candidate) => typeof candidate === 'string'),
        )
      : '';
  if (hint !== '' && allowed.length > WORDS_TOLD_MAX)
    return `${shown(value)} is none of the ${allowed.length} words that there are.${hint}`;
  return `Must be one of ${allowed.map((candidate) => JSON.stringify(candidate)).join(', ')}, not ${shown(value)}.${hint}`;
}

function typeWord(type: unknown): string {
  return TYPE_WORDS[String(type)] ?? `a ${String(type)}`;
}

function formatWord(format: string): string {
  switch (format) {
    case 'date':
      return 'a date (yyyy-MM-dd)';
    case 'date-time':
      return 'a time in ISO 8601 (2026-11-21T05:54:00.000Z)';
    default:
      return `a good ${format}`;
  }
}

/** Returns the value as JSON, shortened; for arrays and objects only their type. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(shorten(value)) : String(value);
}

function shorten(text: string): string {
  return text.length > ERROR_VALUE_CHARACTERS_MAX ? `${text.slice(0, ERROR_VALUE_CHARACTERS_MAX)}…` : text;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}
