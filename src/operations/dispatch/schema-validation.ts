/**
 * Ajv behind one function: a schema becomes a check that returns every fault as a sentence. Compiled at the first use,
 * once; the quick form, which stops at the first fault, decides, and the slow form that collects all runs on refusal only.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import type { ErrorPlace } from '../../platform/index.js';
import { describeFaults } from './schema-faults.js';

export type SchemaKind = 'parameter' | 'body';
/** The faults of a value; empty when it is good. */
export type SchemaCheck = (value: unknown, collectAll?: boolean) => readonly ErrorPlace[];

const FORMATS = ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const;
const NO_FAULTS: readonly ErrorPlace[] = [];

// Schemas are checked against the meta-schema by a test over the registry; compiling that costs 30 ms at each start.
const common = {
  strict: true,
  strictTypes: false,
  ownProperties: true,
  meta: false,
  validateSchema: false,
  // These say something to whoever makes forms of a schema (`oneKindOf`) or tells of a fault (`patterned`), and nothing of what is valid.
  keywords: ['x-members', 'x-allowed'],
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
