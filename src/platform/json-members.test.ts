import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repeatedMember } from './json-members.js';

const found = (text: string) => repeatedMember(text, JSON.parse(text));

it('repeatedMember finds nothing in texts without duplicates, whatever their content and layout', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
      const formatted = JSON.stringify(JSON.parse(text), undefined, indent);
      if (!formatted.includes('__proto__')) expect(found(formatted)).toBeUndefined();
    }),
  );
  for (const text of [
    '{"a":":b","c":"\\":"}',
    '{"a" \n:\t1,"b":"x : y"}',
    '[{"a":1},{"a":1}]',
    '{"a":{"a":1}}',
    '":"',
    '1',
  ])
    expect(found(text), text).toBeUndefined();
});

it('repeatedMember names the duplicate member, at any depth and in any notation', () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a" : 1,"a":2}',
    '{"b":":","a":1,"a":":"}',
    '{"fields":{"a":1,"b":[{"x":1}],"a":{"y":1,"z":2}}}',
    '[{"a":{"k":1,"l":2}, "\\u0061":1}]',
  ])
    expect(found(text), text).toBe("the member 'a' is given twice");
});

it('repeatedMember finds a duplicate that was added anywhere', () => {
  const record = fc.dictionary(
    fc.string().filter((name) => name !== '__proto__'),
    fc.jsonValue(),
    { minKeys: 1 },
  );
  fc.assert(
    fc.property(record, fc.nat(), fc.jsonValue(), (members, at, value) => {
      const names = Object.keys(members);
      const name = JSON.stringify(names[at % names.length]);
      const text = JSON.stringify(members);
      if (!text.includes('__proto__'))
        expect(found(`${text.slice(0, -1)},${name}:${JSON.stringify(value)}}`)).toMatch(/ is given twice$/);
    }),
  );
});

it('repeatedMember handles any depth', () => {
  const depth = 100_000;
  expect(found('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))).toBeUndefined();
});
