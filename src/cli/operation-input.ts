/**
 * Converts the arguments of `gannet call` into an operation's input. `--param name=value` sets the member of that name
 * in path, query string or body, according to the schemas, which also determine the value's type.
 */
import type { TSchema } from 'typebox';
import {
  coercionsOf,
  firstForm,
  isStreamBody,
  membersOf,
  placesOf,
  type Operation,
  type ParameterPlace,
} from '../operations/index.js';
import { didYouMean, parseExactJson, toldJsonFault } from '../platform/index.js';
import { CommandError, EXIT } from './exit-codes.js';
import type { CallInput } from './service-client.js';

export interface GivenInput {
  /** Each `name=value`. */
  readonly params: readonly string[];
  /** The whole body as JSON text, to which params add members. */
  readonly body: string | undefined;
  /** Content for operations that take a stream. */
  readonly stream: AsyncIterable<Uint8Array> | undefined;
  readonly contentType: string | undefined;
  /** Used if the operation needs an account and the params have none. */
  readonly account: string;
  /** True if the account was given rather than configured: an operation that takes no account is then an error. */
  readonly isAccountGiven: boolean;
}

/** Throws a CommandError that names what is missing, unknown or invalid. */
export function operationInput(operation: Operation, given: GivenInput): CallInput {
  const places = placesOf(operation);
  const values: Record<ParameterPlace, Record<string, unknown>> = {
    path: {},
    query: {},
    body: bodyOf(operation, given),
  };
  for (const param of given.params) place(operation, places, param, values);
  if (given.isAccountGiven && !places.has('account'))
    throw usage(`${operation.name} takes no account. Leave out --account.`);
  if (given.isAccountGiven && places.get('account') === 'query') values.query['account'] ??= given.account;
  if (places.get('account') === 'path' && values.path['account'] === undefined) values.path['account'] = given.account;
  if (places.get('account') === 'body' && values.body['account'] === undefined) values.body['account'] = given.account;
  const missing = membersOf(operation.params).filter((name) => values.path[name] === undefined);
  if (missing.length > 0) {
    throw usage(`${operation.name} needs ${missing.map((name) => `--param ${name}=…`).join(' and ')}.`);
  }
  const empty = Object.keys(values.path).find((name) => values.path[name] === '');
  if (empty !== undefined) throw usage(`The parameter '${empty}' of ${operation.name} is empty.`);
  // A required body without members is sent as {}, which means defaults.
  const hasBody = given.body !== undefined || (operation.body !== undefined && !isStreamBody(operation.body));
  return {
    params: values.path as Record<string, string>,
    query: values.query as Record<string, string>,
    ...(hasBody ? { body: values.body } : {}),
    ...(given.stream === undefined ? {} : { stream: given.stream }),
    ...(given.contentType === undefined ? {} : { contentType: given.contentType }),
  };
}

function place(
  operation: Operation,
  places: ReadonlyMap<string, ParameterPlace>,
  param: string,
  values: Record<ParameterPlace, Record<string, unknown>>,
): void {
  const equals = param.indexOf('=');
  if (equals < 1) throw usage(`--param ${param} is not of the form name=value.`);
  const name = param.slice(0, equals);
  const text = param.slice(equals + 1);
  const at = places.get(name);
  if (at === undefined) {
    const known = [...places.keys()].join(', ');
    const meant = didYouMean(name, places.keys());
    throw usage(
      `${operation.name} has no parameter '${name}'.${meant} Its parameters: ${known === '' ? 'none' : known}.`,
    );
  }
  if (Object.hasOwn(values[at], name)) throw usage(`The parameter '${name}' is given twice.`);
  // Path and query values are text, which the service parses by the same schemas.
  values[at][name] = at === 'body' ? bodyValue(operation.body as TSchema, name, text) : text;
}

/** Parses JSON for objects and arrays of objects, other values as in a query string. */
function bodyValue(schema: TSchema, name: string, text: string): unknown {
  if (isObject(schema, name) && !text.startsWith('{'))
    throw usage(`'${name}' expects a JSON object, such as '{"member":"value"}' in single quotes, not ${text}`);
  if (/^[[{]/.test(text)) {
    const fault = toldJsonFault(text);
    if (fault === undefined) return parseExactJson(text);
    // Another text may begin like JSON; the schema decides.
    if (isObject(schema, name))
      throw usage(
        `'${name}' expects a JSON object, such as '{"member":"value"}' in single quotes. This is not JSON. ${fault}`,
      );
  }
  return coercionsOf(firstForm(schema)).get(name)?.(text) ?? text;
}

function isObject(schema: TSchema, name: string): boolean {
  const { properties } = (firstForm(schema) ?? {}) as {
    readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  };
  return properties?.[name]?.type === 'object';
}

function bodyOf(operation: Operation, { body, stream }: GivenInput): Record<string, unknown> {
  const takesStream = operation.body !== undefined && isStreamBody(operation.body);
  if (stream !== undefined && !takesStream)
    throw usage(`${operation.name} takes no stream. Use --body instead of --input.`);
  if (body === undefined) return {};
  if (operation.body === undefined) throw usage(`${operation.name} takes no body.`);
  const fault = toldJsonFault(body);
  if (fault !== undefined) throw usage(`The body is not JSON. ${fault}`);
  const value = parseExactJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usage(`The body of ${operation.name} must be a JSON object.`);
  }
  return { ...value };
}

function usage(message: string): CommandError {
  return new CommandError(message, EXIT.usage);
}
