/**
 * Converts operations into tools for agents: name, arguments, and effect on the data. Derived from the registry alone.
 */
import type { TSchema } from 'typebox';
import type { Caller } from '../access/index.js';
import { agentToolName, ANY_CONTENT_TYPE, isAgentTool, isStreamBody, type Operation } from '../operations/index.js';

type Json = Readonly<Record<string, unknown>>;

export interface AgentTool {
  readonly name: string;
  readonly operation: Operation;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' } & Json;
  readonly annotations: {
    readonly title: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
  };
}

/** Argument for a whole body without named members, such as a record. */
export const BODY = 'body';
/** Arguments for streamed content, as text or as bytes. */
export const CONTENT = 'content';
export const CONTENT_BASE64 = 'content_base64';
export const CONTENT_TYPE = 'content_type';

/** Optional arguments, which are known from the key, or from the list or group. */
const KNOWN: Readonly<Record<string, string>> = {
  account: 'Default: the account of the key',
  version: 'Default: the current one',
};

/** Returns the tools for all operations open to keys, in the order of the registry, each once. */
export function agentTools(operations: readonly Operation[]): readonly AgentTool[] {
  return operations.filter((operation) => isAgentTool(operation, operations)).map(toolOf);
}

/**
 * True if the caller may use the tool. Access to particular lists is checked by each call, since names of lists are not
 * part of the tools.
 */
export function isOpenTo({ operation }: AgentTool, caller: Caller): boolean {
  const { permission, target, needsWholeAccount } = operation;
  const scope = caller.key?.scope ?? 'account';
  if (scope !== 'account' && (target === 'account' || needsWholeAccount === true)) return false;
  if (scope === 'list' && target === 'group') return false;
  return permission === null || caller.can(permission);
}

function toolOf(operation: Operation): AgentTool {
  const { summary, description, method } = operation;
  const isReading = reads(operation);
  return {
    name: agentToolName(operation),
    operation,
    title: summary,
    description: description === undefined ? `${summary}.` : `${summary}. ${description}`,
    inputSchema: inputSchemaOf(operation),
    annotations: {
      title: summary,
      readOnlyHint: isReading,
      destructiveHint: !isReading && (method === 'DELETE' || method === 'PUT'),
      idempotentHint: isReading || method === 'PUT' || method === 'DELETE',
    },
  };
}

/**
 * True if the operation only reads. A search may be a POST; a click is not, since it is recorded, although it has the
 * permission of searches.
 */
function reads({ method, permission, responses }: Operation): boolean {
  if (method === 'GET') return true;
  return method === 'POST' && /:(?:read|view)$/.test(permission ?? '') && Object.hasOwn(responses, 200);
}

/** Returns the schema of arguments: members of path, query string and body, side by side. */
function inputSchemaOf(operation: Operation): AgentTool['inputSchema'] {
  const { params, query, body } = operation;
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const add = (schema: TSchema | undefined) => {
    const { properties: members = {}, required: needed = [] } = formOf(schema);
    for (const [name, member] of Object.entries(members)) {
      if (!Object.hasOwn(properties, name)) properties[name] = described(name, member);
      if (needed.includes(name) && !Object.hasOwn(KNOWN, name) && !required.includes(name)) required.push(name);
    }
  };
  add(params);
  add(query);
  if (isStreamBody(body)) Object.assign(properties, contentOf(body.contentTypes));
  else if (isWhole(operation)) {
    properties[BODY] = body;
    required.push(BODY);
  } else {
    add(body);
  }
  return { type: 'object', properties: forAgents(properties), required, additionalProperties: false };
}

/** Returns the schema without the keywords that only the service itself reads (`x-…`): agents read every byte of it. */
function forAgents(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forAgents);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).filter(([name]) => !name.startsWith('x-'));
  return Object.fromEntries(members.map(([name, member]) => [name, forAgents(member)]));
}

/** True if a JSON body is one argument rather than one per member. */
export function isWhole({ body }: Operation): boolean {
  return body !== undefined && !isStreamBody(body) && Object.keys(formOf(body).properties ?? {}).length === 0;
}

function formOf(schema: TSchema | undefined): { readonly properties?: Json; readonly required?: readonly string[] } {
  return schema === undefined || 'anyOf' in schema ? {} : schema;
}

function described(name: string, schema: unknown): unknown {
  const known = KNOWN[name];
  return known === undefined ? schema : { ...(schema as Json), description: known };
}

function contentOf(contentTypes: readonly string[]): Json {
  const isAny = contentTypes.includes(ANY_CONTENT_TYPE);
  return {
    [CONTENT]: { type: 'string', description: 'What is sent, where it is text' },
    [CONTENT_BASE64]: { type: 'string', description: 'What is sent, in base64' },
    [CONTENT_TYPE]: isAny
      ? { type: 'string', description: 'Its media type, such as application/pdf' }
      : { type: 'string', enum: contentTypes, description: `Its media type; default: ${contentTypes[0]}` },
  };
}

/** Returns the names of a tool's arguments. */
export function argumentNames(operation: Operation): readonly string[] {
  return Object.keys(inputSchemaOf(operation)['properties'] as Json);
}
