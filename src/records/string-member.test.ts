/** Reading one field of a record's JSON, compared with parsing all of it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseFields } from './record-codec.js';
import { DamagedRecordError } from './record-parts.js';
import { stringField } from './string-member.js';

const awkward = fc.constantFrom(
  '"',
  '\\',
  ',"file":"',
  '{"file":"x"}',
  ',',
  '\u2028',
  '\u{1F41F}',
  'file',
  '\\"file":"',
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.array(awkward).map((parts) => parts.join('')),
);
const name = fc.oneof(fc.constantFrom('file', 'title', 'a"file', 'a\\', 'latitude', 'Datei ä', 'constructor'), text);
const value = fc.oneof(
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(fc.oneof(text, fc.integer(), fc.boolean())),
  fc.record({ latitude: fc.double({ noNaN: true, min: -90, max: 90 }), longitude: fc.integer() }),
);

it('stringField returns what parsing all fields returns', () => {
  fc.assert(
    fc.property(fc.dictionary(name, value), name, (fields, wanted) => {
      const json = JSON.stringify(fields);
      const parsed = parseFields(json);
      for (const each of [wanted, ...Object.keys(fields)]) {
        const member = Object.hasOwn(parsed, each) ? parsed[each] : undefined;
        expect(stringField(json, each)).toBe(typeof member === 'string' ? member : undefined);
      }
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ['with blanks', '{ "file" : "a" , "other": "b" }', 'a'],
  ['of a name that is there twice, the last', '{"file":"a","file":"b"}', 'b'],
  ['that is escaped', '{"file":"https:\\/\\/a"}', 'https://a'],
  ['that is no string', '{"file":1}', undefined],
  ['inside of another name', '{"a\\"file":"x"}', undefined],
  ['that is empty', '{"file":""}', ''],
])('stringField returns a value %s', (_, json, expected) => {
  expect(stringField(json, 'file')).toBe(expected);
});

it.each([
  ['a quote', '{"\\\\\\"":false,"\\"":""}', '\\"', undefined],
  ['a quote, written escaped', '{"a\\"b":"x"}', 'a"b', 'x'],
  ['a number between two names', '{"a,":1,":":"x"}', ':1,', undefined],
  ['what ends a list of values', '{"a":["b,","c"],":":"x"}', ',"c"],', undefined],
])('stringField distinguishes a name with %s from what only looks like it', (_, json, wanted, expected) => {
  expect(stringField(json, wanted)).toBe(expected);
});

it('stringField throws for a record that is cut off', () => {
  for (const json of ['{"file":"http', '{"title":"a', '']) {
    expect(() => stringField(json, 'file')).toThrow(DamagedRecordError);
  }
});
