import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { PermissionCatalogue } from '../../src/access/index.js';
import { agentToolName, reservedAccountNames } from '../../src/operations/index.js';
import { ERROR_CATALOGUE, problemKind, ServiceError } from '../../src/platform/index.js';
import {
  CONTENT_BODY_BYTES_MAX,
  OPTIONS_BODY_BYTES_MAX,
  type Operation,
} from '../../src/operations/dispatch/operation.js';
import { allOperations } from '../../src/main.js';
import { compileCheck } from '../../src/operations/dispatch/schema-validation.js';
import { createValidator, isStreamBody } from '../../src/operations/dispatch/validation.js';

const operations = await allOperations();

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  allErrors: true,
  keywords: ['x-members', 'x-allowed', 'x-separator'],
});
addFormats.default(ajv);

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly additionalProperties?: unknown;
  readonly type?: unknown;
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly 'x-allowed'?: string;
}

const BYTES_A_CHARACTER = 4;
const SCALAR_BYTES_MAX = 25;
const FORMATTED_BYTES_MAX = 64;

describe('the registry of operations', () => {
  it('has unique names, methods and paths', () => {
    expect(duplicates(operations.map(({ name }) => name))).toEqual([]);
    expect(duplicates(operations.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`))).toEqual([]);
  });

  it.each(operations.map((operation) => [operation.name, operation] as const))('%s is complete', (name, operation) => {
    expect(name).toMatch(/^[a-z-]+\.[a-z-]+$/);
    const { permission } = operation;
    if (permission !== null && permission !== 'public') expect(permission).toMatch(/^[a-z-]+:[a-z-]+$/);
    for (const kind of operation.errors ?? []) {
      const { code, status, title } = problemKind(kind);
      expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect([status >= 400 && status < 600, title.length > 0]).toEqual([true, true]);
      // An error that a feature declares has no code of the catalogue.
      expect(Object.hasOwn(ERROR_CATALOGUE, code)).toBe(typeof kind === 'string');
    }
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys((operation.params as Node).properties ?? {})).toEqual(inPath);
    if (operation.target !== 'none') expect(inPath).toContain('account');
    if (operation.target === 'list' || operation.target === 'group') expect(inPath).toContain(operation.target);
  });

  it.each(schemas())('the schema of %s is valid and closed, and its examples fit', (_name, schema) => {
    ajv.compile(schema);
    for (const node of nodes(schema)) {
      if (node.properties !== undefined) expect(node).toHaveProperty('additionalProperties');
      const check = ajv.compile(node as TSchema);
      for (const example of node.examples ?? []) {
        check(example);
        expect(check.errors, JSON.stringify(example)).toBeNull();
      }
    }
  });

  it.each(operations.filter(({ body }) => body !== undefined && !isStreamBody(body)))(
    '$name accepts a body as long as its schema allows',
    ({ body, bodyBytesMax = OPTIONS_BODY_BYTES_MAX }) => {
      const longest = longestJson(body as Node);
      // Bodies without a length in the schema are limited by the settings, or ignored.
      if (longest < Infinity) expect(longest).toBeLessThanOrEqual(bodyBytesMax);
      else expect([CONTENT_BODY_BYTES_MAX, OPTIONS_BODY_BYTES_MAX]).toContain(bodyBytesMax);
    },
  );

  it.each(operations.filter(({ body }) => body !== undefined && !isStreamBody(body)))(
    '$name never repeats long values and names in its refusals',
    (operation) => {
      const long = 'x'.repeat(60_000);
      const members = Object.keys((operation.body as Node).properties ?? {});
      const given = [[long, 1], ...members.map((name) => [name, { [long]: { [long]: long } }])];
      const texts = members.map((name) => [name, long]);
      const validate = createValidator(operation);
      for (const body of [...given.map((each) => [each]), texts, [[long, long]]].map(
        (each) => Object.fromEntries(each) as unknown,
      )) {
        const raw = {
          params: {},
          queryString: '',
          contentType: 'application/json',
          body: Buffer.from(JSON.stringify(body)),
        };
        let refused: unknown;
        try {
          validate(raw);
        } catch (error) {
          refused = error;
        }
        const told = refused instanceof ServiceError ? JSON.stringify(refused.toProblem()) : '';
        expect(told.length).toBeLessThan(20_000);
        expect(told).not.toContain('x'.repeat(600));
      }
    },
  );

  it.each(patterns())('explains in words what the pattern of %s allows', (_name, { pattern = '', ...node }) => {
    const refused = ['', ' ', '#', '__proto__', 'a,b', '\u0000'].find((text) => !new RegExp(pattern, 'u').test(text));
    const [fault] = compileCheck({ type: 'string', pattern, 'x-allowed': node['x-allowed'] }, 'body')(refused);
    expect(fault?.detail).toBe(`Must be ${node['x-allowed']}, not ${JSON.stringify(refused)}.`);
    expect(node['x-allowed']).not.toMatch(/[\\^$]|\[[a-z]-|\{\d/u);
  });

  it('reserves the words that an account name could be confused with in a fixed path', () => {
    const reserved = reservedAccountNames(operations);
    for (const word of ['synonyms', 'synonym-candidates', 'synonym-preview', 'group', 'image', 'document-text', 'bulk'])
      expect(reserved.has(word), word).toBe(true);
    for (const word of ['analytics', 'events', 'read-only', 'suggest', 'related'])
      expect(reserved.has(word), word).toBe(true);
    expect(reserved.has('default')).toBe(false);
  });

  it('has every permission that the API documents, and those of all operations', () => {
    const catalogue = new PermissionCatalogue(operations.map(({ permission }) => permission));
    const promised = {
      account: ['read', 'update'],
      contributor: ['read', 'create', 'delete'],
      service: ['view'],
      model: ['view'],
      list: ['read', 'create', 'update', 'delete'],
      'list-group': ['read', 'create', 'update', 'delete'],
      'api-key': ['read', 'create', 'delete', 'create-read-only'],
      'search-result': ['read', 'create', 'update', 'delete'],
      facet: ['read', 'create', 'update', 'delete'],
      'searchable-field': ['read', 'create', 'update', 'delete'],
      resource: ['read', 'create', 'update', 'delete'],
      synonym: ['read', 'create', 'update', 'delete'],
      'query-rule': ['read', 'create', 'update', 'delete'],
      analytics: ['read'],
      eval: ['read', 'create', 'run', 'delete'],
      judge: ['read', 'update'],
      media: ['read', 'create', 'delete'],
      'media-store': ['read', 'create', 'update', 'delete'],
      feed: ['read', 'create', 'update', 'delete', 'sync'],
      webhook: ['read', 'create', 'update', 'delete', 'test'],
    };
    for (const [area, actions] of Object.entries(promised))
      for (const action of actions) expect(catalogue.all).toContain(`${area}:${action}`);
    for (const { permission } of operations)
      if (permission !== null && permission !== 'public') expect(catalogue.has(permission)).toBe(true);
  });

  it('has a unique tool name for each operation, and keeps the agreed names', () => {
    const tools = operations.map(agentToolName);
    expect(duplicates(tools)).toEqual([]);
    for (const tool of tools) expect(tool).toMatch(/^[a-z]+(_[a-z]+)+$/);
    const settled = ['analytics_get_list', 'analytics_get_group', 'record_list_click', 'record_group_click'];
    const synonyms = ['list_set_synonyms', 'list_synonym_candidates', 'list_preview_synonym_rule'];
    expect(tools).toEqual(expect.arrayContaining([...settled, ...synonyms]));
  });
});

/** Returns the bytes of the longest JSON that fits a schema, without escapes; Infinity if the schema sets no limit. */
function longestJson(schema: Node): number {
  const { anyOf, type, properties, items } = schema;
  if (anyOf !== undefined) return Math.max(...anyOf.map(longestJson));
  const values = schema.const === undefined ? schema.enum : [schema.const];
  if (values !== undefined) return Math.max(...values.map((value) => JSON.stringify(value).length));
  if (schema.format !== undefined) return FORMATTED_BYTES_MAX;
  if (type === 'array') return 2 + (schema.maxItems ?? Infinity) * (longestJson(items ?? {}) + 1);
  if (type === 'object') {
    if (schema.additionalProperties !== false) return Infinity;
    const members = Object.entries(properties ?? {}).map(([name, member]) => name.length + 4 + longestJson(member));
    return 2 + members.reduce((sum, bytes) => sum + bytes, 0);
  }
  if (type !== 'string') return type === undefined ? Infinity : SCALAR_BYTES_MAX;
  const bounded = /\{\d+,(\d+)\}\$$/.exec(schema.pattern ?? '')?.[1];
  return 3 + BYTES_A_CHARACTER * (schema.maxLength ?? (bounded === undefined ? Infinity : Number(bounded)));
}

function duplicates(values: readonly string[]): string[] {
  return values.filter((value, position) => values.indexOf(value) < position);
}

/** Returns every schema that clients meet, except those of public operations. */
function schemas(): [string, TSchema][] {
  const named = (operation: Operation, part: string, schema: TSchema | null | undefined): [string, TSchema][] =>
    schema === null || schema === undefined ? [] : [[`${operation.name} ${part}`, schema]];
  return operations
    .filter(({ permission }) => permission !== 'public')
    .flatMap((operation) => [
      ...named(operation, 'path', operation.params),
      ...named(operation, 'query', operation.query),
      ...named(operation, 'body', operation.body === undefined || isStreamBody(operation.body) ? null : operation.body),
      ...Object.entries(operation.responses).flatMap(([status, { schema }]) => named(operation, status, schema)),
    ]);
}

/** Returns each pattern of the registry once, with the first place that has it. */
function patterns(): [string, Node][] {
  const found = schemas().flatMap(([name, schema]) => [...nodes(schema as Node)].map((node) => [name, node] as const));
  return [
    ...new Map(
      found.flatMap(([name, node]) =>
        node.pattern === undefined ? [] : [[`${node.pattern} ${node['x-allowed']}`, [name, node] as [string, Node]]],
      ),
    ).values(),
  ];
}

function* nodes(node: Node): Generator<Node> {
  yield node;
  const children = [
    ...Object.values(node.properties ?? {}),
    ...(node.items === undefined ? [] : [node.items]),
    ...(node.anyOf ?? []),
  ];
  for (const child of children) yield* nodes(child);
}
