/** Converts the arguments of a tool into the input of its operation. */
import { isStreamBody, placesOf, type Operation } from '../operations/index.js';
import { didYouMean, ERROR_VALUE_CHARACTERS_MAX, ServiceError, toldText } from '../platform/index.js';
import { argumentNames, BODY, CONTENT, CONTENT_BASE64, CONTENT_TYPE, isWhole } from './agent-tool.js';

export interface ToolInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Set for an operation with a JSON body. */
  readonly body?: unknown;
  /** Set for an operation that takes a stream. */
  readonly content?: Uint8Array;
  readonly contentType?: string;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** Throws `invalid-parameter` for unknown names and for invalid content. The operation validates the values. */
export function toolInput(operation: Operation, given: Arguments): ToolInput {
  assertKnown(operation, given);
  const places = placesOf(operation);
  const values = { path: {} as Record<string, string>, query: {} as Record<string, string> };
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const place = places.get(name);
    // Null counts as absent, since models fill in optional arguments.
    if (place === undefined || value === undefined) continue;
    if (value === null && !(place === 'body' && takesNull(operation, name))) continue;
    if (place === 'body') members[name] = value;
    else values[place][name] = textOf(value);
  }
  const { path: params, query } = values;
  if (isStreamBody(operation.body)) return { params, query, ...contentOf(operation, given) };
  if (operation.body === undefined) return { params, query };
  return { params, query, body: isWhole(operation) ? given[BODY] : members };
}

interface NullableSchema {
  readonly type?: unknown;
  readonly anyOf?: readonly NullableSchema[];
}

/** True if null is a valid value of the member, such as one that removes a setting. */
function takesNull({ body }: Operation, name: string): boolean {
  const { properties = {} } = (body ?? {}) as { readonly properties?: Readonly<Record<string, NullableSchema>> };
  const isNull = ({ type, anyOf = [] }: NullableSchema): boolean =>
    type === undefined || [type].flat().includes('null') || anyOf.some(isNull);
  const { [name]: schema } = properties;
  return schema !== undefined && isNull(schema.anyOf === undefined ? schema : { type: 'any', anyOf: schema.anyOf });
}

function assertKnown(operation: Operation, given: Arguments): void {
  const names = argumentNames(operation);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    const known = names.length === 0 ? 'It takes no arguments.' : `It takes ${names.join(', ')}.`;
    const told = toldText(name, ERROR_VALUE_CHARACTERS_MAX);
    const detail = `This tool has no argument '${told}'.${didYouMean(name, names)} ${known}`;
    throw new ServiceError('invalid-parameter', detail, { errors: [{ parameter: told, detail }] });
  }
}

/** Returns the text of a value in a path or a query string. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function contentOf(operation: Operation, given: Arguments): Pick<ToolInput, 'content' | 'contentType'> {
  const types = isStreamBody(operation.body) ? operation.body.contentTypes : [];
  const { [CONTENT]: text, [CONTENT_BASE64]: base64, [CONTENT_TYPE]: given_type } = given;
  const contentType = typeof given_type === 'string' ? given_type : types[0];
  const typed = contentType === undefined || contentType === '*/*' ? {} : { contentType };
  if (typeof text === 'string' && base64 === undefined) return { content: Buffer.from(text, 'utf8'), ...typed };
  if (typeof base64 === 'string' && text === undefined && isBase64(base64)) {
    return { content: Buffer.from(base64, 'base64'), ...typed };
  }
  const detail = `This tool takes either '${CONTENT}', a text, or '${CONTENT_BASE64}', bytes in base64.`;
  throw new ServiceError('invalid-parameter', detail, { errors: [{ parameter: CONTENT, detail }] });
}

function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;
}

/** Adds the account if it is not given. Throws `invalid-parameter` if anything else that the path needs is missing. */
export function withAccount(input: ToolInput, { path, body }: Operation, account: string): ToolInput {
  const params = { ...(path.includes('{account}') ? { account } : {}), ...input.params };
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) if (name !== VERSION) assertGiven(name, params);
  const members = (body as { readonly properties?: object } | undefined)?.properties ?? {};
  if (path.includes('{account}') || !('account' in members)) return { ...input, params };
  return { ...input, params, body: { account, ...(input.body as object) } };
}

const VERSION = 'version';

/** Adds the version if it is not given: the newest version of a group, or `current` for a list. */
export async function withVersion(
  params: ToolInput['params'],
  { path, target }: Operation,
  current: () => Promise<string>,
): Promise<ToolInput['params']> {
  if (!path.includes(`{${VERSION}}`) || params[VERSION] !== undefined) return params;
  return { ...params, [VERSION]: target === 'group' ? 'latest' : await current() };
}

function assertGiven(name: string, params: ToolInput['params']): void {
  if (params[name] !== undefined && params[name] !== '') return;
  const detail = `This tool needs the argument '${name}'.`;
  throw new ServiceError('invalid-parameter', detail, { errors: [{ parameter: name, detail }] });
}
