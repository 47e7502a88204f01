import { describe, expect, it } from 'vitest';
import { SchemaComponents } from './schema-components.js';

const member = (title: string, type: string, more: object = {}) => ({
  title,
  type: 'object',
  properties: { a: { type } },
  ...more,
});

describe('a schema with a title', () => {
  it('stands once, and is referred to wherever schemas may be', () => {
    const components = new SchemaComponents();
    const inner = member('Inner', 'string');
    const reference = { $ref: '#/components/schemas/Inner' };
    const described = components.of({
      title: 'Outer',
      type: 'object',
      properties: { title: inner, list: { type: 'array', items: inner }, either: { anyOf: [inner, { type: 'null' }] } },
      additionalProperties: inner,
      $defs: { one: inner },
    });
    expect(described).toEqual({ $ref: '#/components/schemas/Outer' });
    expect(components.all()).toEqual({
      Inner: inner,
      Outer: {
        title: 'Outer',
        type: 'object',
        properties: {
          title: reference,
          list: { type: 'array', items: reference },
          either: { anyOf: [reference, { type: 'null' }] },
        },
        additionalProperties: reference,
        $defs: { one: reference },
      },
    });
    expect(Object.keys(components.all())).toEqual(['Inner', 'Outer']);
  });

  it('keeps what it is described as in its place', () => {
    const components = new SchemaComponents();
    components.of(member('A', 'string', { description: 'One' }));
    expect(components.of(member('A', 'string', { description: 'Another' }))).toEqual({
      $ref: '#/components/schemas/A',
      description: 'Another',
    });
  });

  it('is told where another one has it, or where it names no type', () => {
    const components = new SchemaComponents();
    components.of(member('A', 'string'));
    expect(() => components.of(member('A', 'number'))).toThrow("Two schemas have the title 'A'");
    expect(() => components.of(member('A list', 'number'))).toThrow("'A list'");
  });

  it('is not looked for in values', () => {
    const components = new SchemaComponents();
    const schema = {
      type: 'object',
      default: { title: 'A b' },
      examples: [{ title: 'Birds', items: { title: 'x' } }],
      const: true,
    };
    expect(components.of(schema)).toEqual(schema);
    expect(components.of(true)).toBe(true);
    expect(components.all()).toEqual({});
  });
});
