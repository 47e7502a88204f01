/**
 * Converts query strings and path segments to the values of an operation's schema. What cannot be converted stays text,
 * and validation then says what was expected.
 */
import type { TSchema } from 'typebox';
import type { ErrorPlace } from '../../platform/index.js';

/** Converts the decoded text of one option to its value. */
export type Coercion = (text: string) => unknown;
export type Coercions = ReadonlyMap<string, Coercion>;

/** How the options of a query string are read. */
export interface QueryForm {
  readonly coercions: Coercions;
  /** Options that take several values, separated by commas: they may be repeated as well. */
  readonly lists: ReadonlySet<string>;
}

interface PlainSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: PlainSchema;
  /** Separates the values of a text that holds several. */
  readonly 'x-separator'?: string;
  readonly anyOf?: readonly PlainSchema[];
  readonly oneOf?: readonly PlainSchema[];
  readonly properties?: Readonly<Record<string, PlainSchema>>;
}

/** Between the values of one option. */
const VALUE_SEPARATOR = ',';
const INTEGER = /^-?(?:0|[1-9][0-9]{0,15})$/;
const NUMBER = /^-?(?:[0-9]{1,17}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?$/;
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Returns the conversion of each member of an object schema. */
export function coercionsOf(schema: TSchema | undefined): Coercions {
  return new Map(membersOf(schema).map(([name, member]) => [name, coercionOf(member)]));
}

/** Returns how the options of an object schema are read from a query string. */
export function queryFormOf(schema: TSchema | undefined): QueryForm {
  const lists = membersOf(schema).filter(([, member]) => takesSeveral(member));
  return { coercions: coercionsOf(schema), lists: new Set(lists.map(([name]) => name)) };
}

function membersOf(schema: TSchema | undefined): [string, PlainSchema][] {
  const plain: PlainSchema | undefined = schema;
  return Object.entries(plain?.properties ?? {});
}

/** Returns true if the option takes several values, separated by commas. */
export function takesSeveral(schema: PlainSchema): boolean {
  if (schema['x-separator'] === VALUE_SEPARATOR) return true;
  const types = typesOf(schema);
  return types.has('array') && !types.has('string');
}

function coercionOf(schema: PlainSchema): Coercion {
  const types = typesOf(schema);
  const items = itemsOf(schema);
  const item = items === undefined ? undefined : coercionOf(items);
  return (text) => {
    if (types.has('integer') && INTEGER.test(text)) return Number(text);
    if (types.has('number') && NUMBER.test(text)) return Number(text);
    if (types.has('boolean')) {
      const value = BOOLEANS.get(text.toLowerCase());
      if (value !== undefined) return value;
    }
    if (types.has('object') && text.startsWith('{')) return parsedOr(text);
    if (types.has('string') || !types.has('array')) return text;
    return text === ''
      ? []
      : text.split(VALUE_SEPARATOR).map((part) => (item === undefined ? part.trim() : item(part.trim())));
  };
}

function typesOf(schema: PlainSchema): ReadonlySet<string> {
  const types = new Set<string>(schema.type === undefined ? [] : [schema.type].flat());
  for (const value of schema.const === undefined ? (schema.enum ?? []) : [schema.const]) types.add(typeof value);
  for (const alternative of schema.anyOf ?? schema.oneOf ?? []) {
    for (const type of typesOf(alternative)) types.add(type);
  }
  return types;
}

function itemsOf(schema: PlainSchema): PlainSchema | undefined {
  return schema.items ?? (schema.anyOf ?? schema.oneOf)?.map(itemsOf).find((items) => items !== undefined);
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Decodes percent-encoding and `+`; undefined if the encoding is invalid or not UTF-8. */
function decodeQueryText(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return decodePathText(spaced);
}

/** Decodes percent-encoding; undefined if the encoding is invalid or not UTF-8. */
export function decodePathText(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the options of a query string (without its `?`). Adds faults of its form to `faults`. Unknown names stay in the
 * result, for validation to refuse.
 */
export function readQueryString(
  text: string,
  { coercions, lists }: QueryForm,
  faults: ErrorPlace[],
): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  if (text === '') return options;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeQueryText(equals === -1 ? pair : pair.slice(0, equals));
    if (name === undefined) {
      faults.push({ detail: 'The name of a parameter is not valid percent-encoded UTF-8.' });
      continue;
    }
    const value = equals === -1 ? '' : decodeQueryText(pair.slice(equals + 1));
    if (value === undefined) {
      faults.push({ parameter: name, detail: 'The value is not valid percent-encoded UTF-8.' });
      continue;
    }
    const coercion = coercions.get(name);
    if (!Object.hasOwn(options, name)) {
      define(options, name, coercion === undefined ? value : coercion(value));
    } else if (coercion !== undefined && lists.has(name)) {
      options[name] = both(options[name], coercion(value));
    } else if (coercion !== undefined) {
      faults.push({ parameter: name, detail: 'The parameter is given more than once, but takes one value.' });
    }
  }
  return options;
}

/** Returns the values of an option that is repeated, as if they had been given together. */
function both(before: unknown, more: unknown): unknown {
  if (Array.isArray(before)) return [...(before as unknown[]), ...(more as unknown[])];
  return [before, more].filter((text) => text !== '').join(VALUE_SEPARATOR);
}

/** Sets an own member even if the name is `__proto__`, which an assignment would not. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, configurable: true });
  else target[name] = value;
}
