/**
 * Compiles schemas with Ajv to checks that return every fault as a sentence. Each is compiled once, at its first use.
 * The quick form, which stops at the first fault, decides; the slow form, which collects all, only runs for refused
 * values.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import type { ErrorPlace } from '../../platform/index.js';
import { describeFaults } from './schema-faults.js';

export type SchemaKind = 'parameter' | 'body';
/** Returns the faults of a value; empty if it is valid. */
export type SchemaCheck = (value: unknown, collectAll?: boolean) => readonly ErrorPlace[];

const FORMATS = ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const;
const NO_FAULTS: readonly ErrorPlace[] = [];

// A test over the registry checks schemas against the meta-schema; compiling that here would take 30 ms at each start.
const common = {
  strict: true,
  strictTypes: false,
  ownProperties: true,
  meta: false,
  validateSchema: false,
  // For code that makes forms of a schema (`oneKindOf`), describes a fault (`patterned`), or reads query strings; without
  // effect on validity.
  keywords: ['x-members', 'x-allowed', 'x-separator'],
};
const quick = withFormats(new Ajv2020(common));
const thorough = withFormats(new Ajv2020({ ...common, allErrors: true, verbose: true }));

function withFormats(ajv: Ajv2020): Ajv2020 {
  addFormats.default(ajv, [...FORMATS]);
  return ajv;
}

export function compileCheck(schema: TSchema, kind: SchemaKind): SchemaCheck {
  let quickCheck: ValidateFunction | undefined;
  let thoroughCheck: ValidateFunction | undefined;
  return (value, collectAll = true) => {
    quickCheck ??= quick.compile(schema);
    if (quickCheck(value) === true) return NO_FAULTS;
    thoroughCheck ??= thorough.compile(schema);
    if (!collectAll) return describeFaults(quickCheck.errors ?? [], kind, value).slice(0, 1);
    thoroughCheck(value);
    return describeFaults(thoroughCheck.errors ?? [], kind, value);
  };
}
