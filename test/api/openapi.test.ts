import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { EventCatalogue } from '../../src/platform/index.js';
import { openApiDocument } from '../../src/operations/openapi/openapi.js';
import { agentTools } from '../../src/agents/index.js';
import { allOperations } from '../../src/main.js';

/** The length of a schema in characters from which it must be named. */
const LONG = 1_000;
const EVENTS = new EventCatalogue();
const operations = await allOperations();

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly schema: { readonly description?: string };
  }[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security: readonly unknown[];
  readonly 'x-agent-tool'?: string;
}

describe('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(openApiDocument(operations, EVENTS))) as {
    readonly openapi: string;
    readonly tags: readonly { readonly name: string; readonly description?: string }[];
    readonly components: Readonly<Record<'schemas' | 'responses', Readonly<Record<string, unknown>>>>;
    readonly webhooks: Readonly<Record<string, unknown>>;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const described = Object.values(document.paths).flatMap((item) => Object.values(item));
  /** Returns the answer as JSON, or an empty text if the operation has no such answer. */
  const answerOf = (name: string, status: string): string => {
    const answer = described.find(({ operationId }) => operationId === name)?.responses[status];
    const { $ref } = (answer ?? {}) as { readonly $ref?: string };
    const told = $ref === undefined ? answer : document.components.responses[$ref.split('/').at(-1) ?? ''];
    return JSON.stringify(told ?? '');
  };

  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(document.openapi).toBe('3.1.0');
  });

  it('declares files in the way that generated clients understand', () => {
    const content = (answer: unknown): unknown => (answer as { readonly content?: unknown }).content;
    const { put, get } = document.paths['/media/{account}/{store}/{path}'] ?? {};
    const file = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    expect(content((put as unknown as { readonly requestBody: unknown }).requestBody)).toMatchObject(file);
    expect(content(get?.responses['200'])).toMatchObject(file);
  });

  it('describes every operation once', () => {
    expect(described.map(({ operationId }) => operationId).sort()).toEqual(operations.map(({ name }) => name).sort());
  });

  it('describes each tag and each parameter', () => {
    expect(document.tags.length).toBeGreaterThan(0);
    expect(
      document.tags.filter(({ description }) => description === undefined),
      "DESCRIPTIONS of src/operations/openapi/openapi-tags.ts says what each first part of operations' names is about",
    ).toEqual([]);
    const bare = described.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter((parameter) => (parameter.description ?? parameter.schema.description) === undefined)
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(bare).toEqual([]);
  });

  it('has enumerations instead of alternatives of constants, which generated clients cannot read', () => {
    const constants: unknown[] = [];
    JSON.stringify(document, (_key, value: unknown) => {
      const { anyOf = [] } = (value ?? {}) as { readonly anyOf?: readonly object[] };
      constants.push(...anyOf.filter((branch) => 'const' in branch));
      return value;
    });
    expect(constants).toEqual([]);
  });

  it('has patterns that are also valid with the flag v, which browsers use for input fields', () => {
    const patterns = new Set<string>();
    JSON.stringify(document, (_key, value: unknown) => {
      const { type, pattern } = (value ?? {}) as { readonly type?: unknown; readonly pattern?: unknown };
      if (type === 'string' && typeof pattern === 'string') patterns.add(pattern);
      return value;
    });
    expect(patterns.size).toBeGreaterThan(10);
    const refused = [...patterns].filter((pattern) => {
      try {
        // JSON Schema compiles patterns with the flag u.
        return ![new RegExp(pattern, 'u'), new RegExp(pattern, 'v')].every(Boolean);
      } catch {
        return true;
      }
    });
    expect(refused).toEqual([]);
  });

  it('names the types that operations take and answer, for generated clients', () => {
    const { schemas } = document.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        'Feed',
        'Group',
        'Hit',
        'List',
        'Problem',
        'SearchAnswer',
        'SearchRequest',
        'StoredRecord',
      ]),
    );
    const references = new Set(JSON.stringify(document).match(/(?<="#\/components\/schemas\/)\w+/g));
    expect([...references].sort()).toEqual(Object.keys(schemas).sort());
    // Objects with many members that are used in several places must be named.
    const copies = new Map<string, number>();
    const count = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const text = JSON.stringify(value);
      if ('properties' in value && text.length > LONG) copies.set(text, (copies.get(text) ?? 0) + 1);
      for (const each of Object.values(value)) count(each);
    };
    count(document);
    expect([...copies].filter(([, times]) => times > 1).map(([text]) => text.slice(0, 200))).toEqual([]);
  });

  it('defines answers that several operations share only once', () => {
    const { responses } = document.components;
    const references = [...JSON.stringify(document).matchAll(/(?<="#\/components\/responses\/)[\w-]+/g)].map(
      ([name]) => name,
    );
    expect([...new Set(references)].sort()).toEqual(Object.keys(responses).sort());
    const own = described.flatMap((each) => Object.entries(each.responses).map((answer) => JSON.stringify(answer)));
    const errors = own.filter((answer) => /^\["[45]/.test(answer) && !answer.includes('$ref":"#/components/responses'));
    expect(errors.filter((answer, place) => errors.indexOf(answer) !== place)).toEqual([]);
    const { Answer429, Answer503 } = responses as Readonly<Record<string, { readonly headers: object }>>;
    expect([Answer429?.headers, Answer503?.headers]).toEqual(
      Array(2).fill(expect.objectContaining({ 'Retry-After': expect.anything() })),
    );
  });

  it('gives events of webhooks a tag apart from the operations, as generated clients have a file for each tag', () => {
    const tagsOf = (items: object): unknown[] =>
      Object.values(items).flatMap((item: object) =>
        Object.values(item).flatMap(({ tags }: { readonly tags: readonly string[] }) => tags),
      );
    const ofEvents = new Set(tagsOf(document.webhooks));
    expect(ofEvents.size).toBe(1);
    expect(tagsOf(document.paths).filter((tag) => ofEvents.has(tag))).toEqual([]);
    expect(document.tags.filter(({ name }) => ofEvents.has(name))).toHaveLength(1);
  });

  it('names the agent tool of each operation that has one, and of no other', () => {
    const named = described.flatMap((each) => (each['x-agent-tool'] === undefined ? [] : [each['x-agent-tool']]));
    expect(named).toEqual(expect.arrayContaining(['list_set_synonyms', 'record_list_click', 'search_list']));
    expect(named.sort()).toEqual(
      agentTools(operations)
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('describes the event of every event type of webhooks', () => {
    expect(Object.keys(document.webhooks)).toEqual(EVENTS.types);
  });

  it('documents for every operation below an account that the account may not exist', () => {
    const targets = operations.filter(({ target }) => target !== 'none');
    const kinds = new Set(targets.map(({ target }) => target));
    expect(kinds).toEqual(new Set(['account', 'list', 'group']));
    const silent = targets.filter(({ name }) => !answerOf(name, '404').includes('account-not-found'));
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('documents for every operation that is not public whether it needs a key or session, and how it refuses', () => {
    for (const operation of operations) {
      const found = described.find(({ operationId }) => operationId === operation.name);
      const isPublic = operation.permission === 'public';
      const ways = (found?.security ?? []).flatMap((way) => Object.keys(way as object));
      const { callers } = operation;
      const people = callers.includes('console') || !callers.includes('key') ? ['session'] : [];
      expect(ways.filter((way) => way !== 'bearer')).toEqual(
        isPublic ? [] : [...(callers.includes('key') ? ['key'] : []), ...people],
      );
      expect([operation.path, ways.includes('bearer')]).toEqual([operation.path, operation.path === '/mcp']);
      if (!isPublic) expect(Object.keys(found?.responses ?? {})).toEqual(expect.arrayContaining(['400', '401', '403']));
    }
  });

  it('names the error codes of sessions, which generated clients tell refusals apart by', () => {
    const { Problem } = document.components.schemas as { readonly Problem: { readonly properties: object } };
    expect(Problem.properties).toMatchObject({
      code: { enum: expect.arrayContaining(['not-signed-in', 'csrf-token']) },
    });
    for (const { name, callers, method, permission } of operations) {
      if (permission === 'public') continue;
      const isOfSessions = callers.includes('console');
      expect([name, answerOf(name, '401').includes('`not-signed-in`')]).toEqual([name, isOfSessions]);
      expect([name, answerOf(name, '403').includes('`csrf-token`')]).toEqual([name, isOfSessions && method !== 'GET']);
    }
  });
});
