import { expect, it } from 'vitest';
import { flatLines, flatRecord, nestedField } from './flat-records.js';

it('flatRecord makes fields of the members of objects, and several values of those of several objects', () => {
  expect(
    flatRecord({
      title: 'a',
      author: { name: 'Ana', born: { year: 1980, at: { latitude: 1, longitude: 2 } }, no: null },
      reviews: [
        { stars: 5, tags: ['x', 'y'] },
        { stars: 3, tags: ['z'] },
      ],
      one: [{ a: 1 }],
      plain: ['p', 'q'],
      seen_at: { latitude: 56.08, longitude: -2.64 },
      empty: {},
    }),
  ).toEqual({
    title: 'a',
    'author.name': 'Ana',
    'author.born.year': 1980,
    'author.born.at': { latitude: 1, longitude: 2 },
    'reviews.stars': [5, 3],
    'reviews.tags': ['x', 'y', 'z'],
    'one.a': [1],
    plain: ['p', 'q'],
    seen_at: { latitude: 56.08, longitude: -2.64 },
  });
});

it('flatRecord only flattens the fields of a record that has other members', () => {
  const record = { name: 'n', fields: { a: { b: 1 } }, vector: [1, 2] };
  expect(flatRecord(record)).toEqual({ name: 'n', fields: { 'a.b': 1 }, vector: [1, 2] });
  expect(flatRecord({ name: 'n', fields: { b: 1 }, other: 2 })).toEqual({ name: 'n', 'fields.b': 1, other: 2 });
});

it('flatRecord joins values of the same name', () => {
  expect(flatRecord({ 'a.b': 1, a: { b: [2, 3] } })).toEqual({ 'a.b': [1, 2, 3] });
});

it('nestedField names the first field that is not flat', () => {
  expect(nestedField({ title: 'a', at: { latitude: 1, longitude: 2 }, tags: ['x'] })).toBeUndefined();
  expect(nestedField({ title: 'a', author: {} })).toBe('author');
  expect(nestedField({ name: 'x', fields: { items: [1, {}] } })).toBe('items');
  expect(nestedField('no record')).toBeUndefined();
});

it('flatLines keeps the number of lines, in parts of any length, and leaves lines without a record as they are', async () => {
  const lines = [
    '{"id":12345678901234567890,"a":{"b":"ü"}}',
    '',
    'no JSON',
    '[1]',
    '{"a":{"b":1},"a":{"c":2}}',
    '{"a":{"b":1}}',
  ];
  const text = Buffer.from(lines.join('\n'));
  for (const bytes of [1, 5, 1000]) {
    async function* source(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < text.length; at += bytes) yield await Promise.resolve(text.subarray(at, at + bytes));
    }
    const read: Uint8Array[] = [];
    for await (const part of flatLines(source())) read.push(part);
    expect(Buffer.concat(read).toString().split('\n')).toEqual([
      '{"id":"12345678901234567890","a.b":"ü"}',
      ...lines.slice(1, 5),
      '{"a.b":1}',
    ]);
  }
});

it('flatLines accepts a byte order mark and Windows line ends', async () => {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.from('\ufeff{"a":{"b":1}}\r\n{"a":{"b":2}}\r\n'));
  }
  const read: Uint8Array[] = [];
  for await (const part of flatLines(source())) read.push(part);
  expect(Buffer.concat(read).toString()).toBe('{"a.b":1}\n{"a.b":2}\n');
});

it('flatRecord leaves very deep nesting for the service to refuse', () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 5000; depth += 1) value = { a: value };
  const [field] = Object.entries(flatRecord({ deep: value }));
  expect(field?.[0].split('.').length).toBeLessThan(100);
  expect(field?.[1]).toBeTypeOf('object');
});
