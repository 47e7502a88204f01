/** Values of settings: parsed from environment variables, validated against their schema, and described in words. */
import { resolve } from 'node:path';

/** The subset of JSON Schema that `config/schema.ts` uses. */
export interface SettingSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  /**
   * What the pattern allows, in words, as the end of a sentence. A test ensures that each schema with a pattern has it.
   */
  readonly allowed?: string;
  readonly const?: unknown;
  /** What kind of path the value is. A `program` may also be a name that is looked up in PATH. */
  readonly path?: 'file' | 'program';
  readonly items?: SettingSchema;
  readonly anyOf?: readonly SettingSchema[];
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false };
const INTEGER = /^(?:0|-?[1-9][0-9]{0,15})$/;

/**
 * Returns the value that the text stands for, or the text itself if it is not of the schema's type (and is refused
 * later).
 */
export function coerceSetting(schema: SettingSchema, text: string): unknown {
  const trimmed = text.trim();
  switch (schema.type) {
    case 'integer':
      return INTEGER.test(trimmed) ? Number(trimmed) : text;
    case 'boolean':
      return Object.hasOwn(BOOLEANS, trimmed.toLowerCase()) ? BOOLEANS[trimmed.toLowerCase()] : text;
    case 'array':
      return trimmed === '' ? [] : trimmed.split(',').map((item) => coerceSetting(schema.items ?? {}, item.trim()));
    default:
      return text;
  }
}

/**
 * Returns the value with every path resolved against the working directory. Throws the system's error if that directory
 * no longer exists.
 */
export function withAbsolutePaths(schema: SettingSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withAbsolutePaths(schema.items ?? {}, item));
  if (typeof value !== 'string' || value === '' || schema.path === undefined) return value;
  return schema.path === 'program' && !value.includes('/') ? value : resolve(value);
}

export function isSettingValid(schema: SettingSchema, value: unknown): boolean {
  if (!isOfType(schema.type, value)) return false;
  if (schema.const !== undefined && value !== schema.const) return false;
  if (schema.anyOf !== undefined && !schema.anyOf.some((alternative) => isSettingValid(alternative, value)))
    return false;
  if (typeof value === 'number') return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
  if (typeof value === 'string') {
    const lengthIsGood = value.length >= (schema.minLength ?? 0) && value.length <= (schema.maxLength ?? Infinity);
    return lengthIsGood && (schema.pattern === undefined || new RegExp(schema.pattern).test(value));
  }
  if (Array.isArray(value)) {
    return (
      value.length <= (schema.maxItems ?? Infinity) && value.every((item) => isSettingValid(schema.items ?? {}, item))
    );
  }
  return true;
}

function isOfType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case 'integer':
      return Number.isSafeInteger(value);
    case 'array':
      return Array.isArray(value);
    default:
      return typeof value === type;
  }
}

/** Describes what is allowed, as the end of a sentence: "an integer from 1 to 256, or 0". */
export function allowedValues(schema: SettingSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === undefined && schema.anyOf !== undefined)
    return `one of ${schema.anyOf.map(allowedValues).join(', ')}`;
  switch (schema.type) {
    case 'integer':
      return `an integer ${integerRange(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list of values that are each ${allowedValues(schema.items ?? {})}`;
    default:
      return schema.allowed ?? 'text that is not empty';
  }
}

function integerRange(schema: SettingSchema): string {
  const ranges = schema.anyOf ?? [schema];
  return ranges
    .map((range) =>
      range.const === undefined ? `from ${range.minimum} to ${range.maximum}` : JSON.stringify(range.const),
    )
    .reverse()
    .join(', or ');
}
