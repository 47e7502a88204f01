/** Tests the tool made from each operation: a tool's arguments arrive where the operation expects them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allOperations } from '../../src/main.js';
import { coercionsOf, isStreamBody, placesOf, type Operation } from '../../src/operations/index.js';
import { agentTools, argumentNames, CONTENT, isWhole } from '../../src/agents/agent-tool.js';
import { toolInput, withAccount, withVersion } from '../../src/agents/tool-input.js';

const OPERATIONS = await allOperations();
const TOOLS = agentTools(OPERATIONS);
const named = (name: string): Operation => OPERATIONS.find((each) => each.name === name) as Operation;

describe('agent tools', () => {
  it('cover each operation that API keys may call, exactly once', () => {
    const names = TOOLS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, operation } of TOOLS) {
      expect(name).toMatch(/^[a-z]+(?:_[a-z]+)+$/);
      expect(name.length).toBeLessThanOrEqual(64);
      expect(operation.callers).toContain('key');
    }
    const without = OPERATIONS.filter(({ callers }) => callers.includes('key')).filter(
      (operation) => !TOOLS.some((tool) => tool.operation === operation),
    );
    // These need no key, repeat an operation that POST offers, stream without end, or are the operation that agents
    // call tools by.
    expect(without.map(({ name }) => name)).toEqual([
      'system.health',
      'system.ready',
      'system.metrics',
      'openapi.read',
      'search.list-by-query',
      'search.group-by-query',
      'suggest.list-by-query',
      'suggest.group-by-query',
      'progress.watch',
      'agent.call',
    ]);
  });

  it.each(TOOLS.map((tool) => [tool.name, tool] as const))(
    '%s lists all inputs of its operation in its schema',
    (_, tool) => {
      const { inputSchema, operation } = tool;
      const properties = inputSchema['properties'] as Readonly<Record<string, unknown>>;
      const places = placesOf(operation);
      if (!isWhole(operation)) for (const name of places.keys()) expect(properties).toHaveProperty([name]);
      for (const name of inputSchema['required'] as readonly string[]) expect(properties).toHaveProperty([name]);
      expect(argumentNames(operation)).toEqual(Object.keys(properties));
      // The schema is plain JSON, without anything that is lost when it is serialized.
      expect(JSON.parse(JSON.stringify(inputSchema))).toEqual(inputSchema);
      expect(tool.description.length).toBeGreaterThan(10);
    },
  );
});

describe('arguments of tools', () => {
  it.each(TOOLS.map((tool) => [tool.name, tool.operation] as const))(
    'of %s are passed on in the path, query or body, as the operation expects',
    (_, operation) => {
      const places = [...placesOf(operation)].filter(([, place]) => place !== 'body' || !isWhole(operation));
      fc.assert(
        fc.property(fc.subarray(places), fc.string({ minLength: 1 }), (some, text) => {
          const given = Object.fromEntries(some.map(([name]) => [name, text]));
          const content = isStreamBody(operation.body) ? { [CONTENT]: text } : {};
          const input = toolInput(operation, { ...given, ...content });
          for (const [name, place] of some) {
            const found = place === 'path' ? input.params : place === 'query' ? input.query : input.body;
            expect(found).toMatchObject({ [name]: text });
          }
        }),
        { numRuns: 20 },
      );
    },
  );

  it('are encoded for the query string so that the service reads the same values, without nulls', () => {
    const operation = named('related.list');
    const { query } = toolInput(operation, { list: 'a', record: 'b', select: ['title', 'year'], size: 3, skip: null });
    const read = coercionsOf(operation.query);
    expect(Object.keys(query)).toEqual(['select', 'size']);
    expect(read.get('size')?.(query['size'] ?? '')).toBe(3);
    expect(query['select']).toBe('title,year');
  });

  it('may leave out the account and the version', async () => {
    const operation = named('search.list');
    const input = withAccount(toolInput(operation, { list: 'birds' }), operation, 'default');
    expect(input.params).toEqual({ account: 'default', list: 'birds' });
    const current = () => Promise.resolve('3');
    expect(await withVersion(input.params, operation, current)).toMatchObject({ version: '3' });
    expect(await withVersion({ ...input.params, version: '1' }, operation, current)).toMatchObject({ version: '1' });
    expect(await withVersion({ group: 'all' }, named('search.group'), current)).toMatchObject({ version: 'latest' });
    const webhook = named('webhook.create');
    expect(withAccount(toolInput(webhook, { url: 'x' }), webhook, 'default').body).toEqual({
      account: 'default',
      url: 'x',
    });
  });

  it('are named in the error if they are unknown or missing', () => {
    const operation = named('search.list');
    expect(() => toolInput(operation, { qery: 'x' })).toThrow("no argument 'qery'. Did you mean 'query'?");
    expect(() => toolInput(operation, { body: {} })).toThrow("no argument 'body'");
    expect(() => withAccount(toolInput(operation, {}), operation, 'default')).toThrow("needs the argument 'list'");
    expect(() => toolInput(named('media.upload'), { store: 'a', path: 'b' })).toThrow('bytes in base64');
  });
});
