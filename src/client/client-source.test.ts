import { describe, expect, it } from 'vitest';
import ts from 'typescript';
import { operations } from '../operations/index.js';
import { clientSource, functionName } from './client-source.js';
import { typeText } from './type-text.js';

describe('typeText', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ const: 'a' }, '"a"'],
    [{ enum: ['a', 2, null] }, '"a" | 2 | null'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ anyOf: [{ type: 'string' }, { type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, 'readonly (string | number)[]'],
    [
      { type: 'object', required: ['a'], properties: { a: {}, 'b-c': { type: 'boolean' } } },
      '{ readonly a: unknown; readonly "b-c"?: boolean | undefined }',
    ],
    [{ type: 'object', patternProperties: { '^.*$': { type: 'number' } } }, 'Readonly<Record<string, number>>'],
    [{}, 'unknown'],
  ])('of %j is %s', (schema, type) => {
    expect(typeText(schema)).toBe(type);
  });
});

describe('clientSource', () => {
  it('has a uniquely named function for every operation, and is valid TypeScript', () => {
    const source = clientSource(operations);
    const names = operations.map(({ name }) => functionName(name));
    expect(new Set(names).size).toBe(operations.length);
    for (const name of names) expect(source).toContain(`export const ${name} = `);
    const { diagnostics } = ts.transpileModule(source, { reportDiagnostics: true });
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
  });
});
