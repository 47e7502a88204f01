import { describe, expect, it } from 'vitest';
import { SchemaComponents } from './schema-components.js';

const member = (title: string, type: string, more: object = {}) => ({
  title,
  type: 'object',
  properties: { a: { type } },
  ...more,
});

describe('a schema with a title', () => {
  it('is included once, and referred to from everywhere', () => {
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

  it('keeps another description beside the reference', () => {
    const components = new SchemaComponents();
    components.of(member('A', 'string', { description: 'One' }));
    expect(components.of(member('A', 'string', { description: 'Another' }))).toEqual({
      $ref: '#/components/schemas/A',
      description: 'Another',
    });
  });

  it('throws if another schema has the same title, or if the title is no type name', () => {
    const components = new SchemaComponents();
    components.of(member('A', 'string'));
    expect(() => components.of(member('A', 'number'))).toThrow("Two schemas have the title 'A'");
    expect(() => components.of(member('A list', 'number'))).toThrow("'A list'");
  });

  it('is not recognized within values', () => {
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
