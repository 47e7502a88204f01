import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { PERMISSIONS } from '../access/index.js';
import { ERROR_CATALOGUE, RESERVED_ACCOUNT_NAMES } from '../platform/index.js';
import type { Operation } from './operation.js';
import { operations } from './registry.js';
import { isStreamBody } from './validation.js';

const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
addFormats.default(ajv);

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly additionalProperties?: unknown;
  readonly type?: unknown;
  readonly examples?: readonly unknown[];
}

describe('the registry', () => {
  it('has operations of unique names, methods and paths', () => {
    expect(duplicates(operations.map(({ name }) => name))).toEqual([]);
    expect(duplicates(operations.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`))).toEqual([]);
  });

  it.each(operations.map((operation) => [operation.name, operation] as const))('%s is complete', (name, operation) => {
    expect(name).toMatch(/^[a-z-]+\.[a-z-]+$/);
    const { permission } = operation;
    if (permission !== null && permission !== 'public') expect(PERMISSIONS).toContain(permission);
    for (const code of operation.errors ?? []) expect(Object.keys(ERROR_CATALOGUE)).toContain(code);
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys((operation.params as Node).properties ?? {})).toEqual(inPath);
    if (operation.target !== 'none') expect(inPath).toContain('account');
    if (operation.target === 'list' || operation.target === 'group') expect(inPath).toContain(operation.target);
  });

  it.each(schemas())('the schema of %s is valid, closed, and its examples fit', (_name, schema) => {
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

  it('reserves the words at which a fixed path and an account name meet', () => {
    const segments = operations.map(({ path }) => path.split('/').slice(1));
    const clashes = segments
      .filter(
        ([first, second]) =>
          second !== undefined &&
          !second.startsWith('{') &&
          segments.some((other) => other[0] === first && other[1] === '{account}'),
      )
      .map((parts) => parts[1] ?? '');
    expect(clashes.filter((word) => !RESERVED_ACCOUNT_NAMES.has(word))).toEqual([]);
  });
});

function duplicates(values: readonly string[]): string[] {
  return values.filter((value, position) => values.indexOf(value) < position);
}

/** Every schema that clients meet, but for those of the service about itself. */
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

function* nodes(node: Node): Generator<Node> {
  yield node;
  const children = [
    ...Object.values(node.properties ?? {}),
    ...(node.items === undefined ? [] : [node.items]),
    ...(node.anyOf ?? []),
  ];
  for (const child of children) yield* nodes(child);
}
