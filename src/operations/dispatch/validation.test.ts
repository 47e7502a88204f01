import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { ServiceError, type ErrorPlace, NAME_PATTERN_WORDS } from '../../platform/index.js';
import { nameSchema, patterned } from '../api/schemas.js';
import {
  CONTENT_BODY_BYTES_MAX,
  defineOperation,
  RULES_BODY_PARTS_MAX,
  type Operation,
  type RawInput,
} from './operation.js';
import { createValidator, jsonBounds, parseJson } from './validation.js';

const closed = { additionalProperties: false } as const;
const Point = Type.Object({ latitude: Type.Number({ minimum: -90, maximum: 90 }), distance: Type.Number() }, closed);
const Body = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 5 }),
    mode: Type.Optional(Type.Union([Type.Literal('any'), Type.Literal('phrase')])),
    list: Type.Optional(nameSchema('Of a list', 'films')),
    code: Type.Optional(patterned('^[a-z]{2}$', 'two lower-case letters', { examples: ['de'] })),
    token: Type.Optional(patterned('^[a-z0-9]+$', 'letters and digits', { writeOnly: true })),
    radius: Type.Optional(Type.Union([Type.String(), Point])),
    when: Type.Optional(Type.String({ format: 'date-time' })),
    day: Type.Optional(Type.String({ minLength: 1, pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, format: 'date' })),
    target: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    by: Type.Optional(
      Type.Union([
        Type.Object({ name: Type.String(), word: Type.String() }, closed),
        Type.Object({ link: Type.String(), word: Type.Optional(Type.String({ minLength: 3 })) }, closed),
      ]),
    ),
    events: Type.Optional(Type.Array(Type.String(), { uniqueItems: true })),
    points: Type.Optional(Type.Array(Point, { uniqueItems: true })),
    fields: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), weight: Type.Optional(Type.Number({ minimum: 0 })) }, closed)),
    ),
  },
  closed,
);

const common = {
  name: 'test.test',
  summary: '',
  path: '/x',
  permission: null,
  callers: ['key'],
  target: 'none',
  responses: {},
} as const;
const withBody = defineOperation({
  ...common,
  method: 'POST',
  params: Type.Object({}),
  body: Body,
  handle: () => ({ status: 200 }),
});
const withQuery = defineOperation({
  ...common,
  method: 'GET',
  params: Type.Object({ version: Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('latest')]) }, closed),
  query: Type.Object(
    {
      size: Type.Optional(Type.Integer({ maximum: 1000 })),
      select: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    },
    closed,
  ),
  handle: () => ({ status: 200 }),
});
const withStream = defineOperation({
  ...common,
  method: 'POST',
  params: Type.Object({}),
  body: { kind: 'stream', contentTypes: ['application/json', 'text/csv'] },
  handle: () => ({ status: 200 }),
});

function validate(operation: Operation, raw: Partial<RawInput>): unknown {
  return createValidator(operation)({ params: {}, queryString: '', contentType: 'application/json', ...raw });
}

function refusal(operation: Operation, raw: Partial<RawInput>): ServiceError {
  try {
    validate(operation, raw);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const bytes = (value: unknown): Uint8Array => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const faultsOf = (body: unknown): readonly ErrorPlace[] => refusal(withBody, { body: bytes(body) }).errors ?? [];

describe('request bodies', () => {
  it('are returned as they are if they are valid', () => {
    const body = { name: 'a', radius: { latitude: 1, distance: 2 }, target: null, when: '2026-11-21T05:54:00Z' };
    expect(validate(withBody, { body: bytes(body), contentType: 'Application/JSON; charset=UTF-8' })).toMatchObject({
      body,
    });
  });

  it.each([
    [{}, '/name', 'Must be given.'],
    [{ name: '' }, '/name', 'Must not be empty.'],
    [{ name: 'sixsix' }, '/name', 'Must have at most 5 characters.'],
    [{ name: 7 }, '/name', 'Must be a string, not 7.'],
    [{ name: null }, '/name', 'Must be a string, not null.'],
    [{ name: 'a', mode: 'phrases' }, '/mode', `Must be one of "any", "phrase", not "phrases". Did you mean 'phrase'?`],
    [{ name: 'a', radius: 5 }, '/radius', 'Must be a string or an object, not 5.'],
    [{ name: 'a', radius: { latitude: 91, distance: 1 } }, '/radius/latitude', 'Must be at most 90, not 91.'],
    [{ name: 'a', radius: { latitude: 1 } }, '/radius/distance', 'Must be given.'],
    [{ name: 'a', when: 'today' }, '/when', 'Must be a time in ISO 8601 (2026-11-21T05:54:00.000Z), not "today".'],
    [{ name: 'a', day: 'x' }, '/day', 'Must be a date (yyyy-MM-dd), not "x".'],
    [{ name: 'a', day: '' }, '/day', 'Must not be empty.'],
    [{ name: 'a', by: { link: 'x', word: 'no' } }, '/by/word', 'Must have at least 3 characters.'],
    [{ name: 'a', by: { link: 'x', words: 'yes' } }, '/by/words', "Unknown member 'words'. Did you mean 'word'?"],
    [{ name: 'a', by: { name: 'x' } }, '/by/word', 'Must be given.'],
    [{ name: 'a', by: 3 }, '/by', 'Must be an object, not 3.'],
    [{ name: 'a', by: {} }, '/by', "Must have 'name' and 'word', or 'link'."],
    [{ name: 'a', list: 'A b' }, '/list', `Must be ${NAME_PATTERN_WORDS}, such as "films", not "A b".`],
    [{ name: 'a', code: 'x' }, '/code', 'Must be two lower-case letters, such as "de", not "x".'],
    [{ name: 'a', token: 's3 cret' }, '/token', 'Must be letters and digits.'],
    [
      { name: 'a', events: ['a', 'b', 'a'] },
      '/events',
      'Items 0 and 2 are the same, counted from 0; each may be there once.',
    ],
    [
      {
        name: 'a',
        points: [
          { latitude: 1, distance: 1 },
          { latitude: 2, distance: 1 },
          { latitude: 1, distance: 1 },
        ],
      },
      '/points',
      'Items 0 and 2 are the same, counted from 0; each may be there once.',
    ],
    [{ name: 'a', target: [] }, '/target', 'Must be a string or null, not an array.'],
    [
      { name: 'a', fields: [{ name: 'x', wieght: 1 }] },
      '/fields/0/wieght',
      "Unknown member 'wieght'. Did you mean 'weight'?",
    ],
    [
      { name: 'a', 'a/b~c': 1 },
      '/a~1b~0c',
      expect.stringMatching(/^Unknown member 'a\/b~c'\. There are the members name, [\w, ]+\.$/),
    ],
    [[], '', "Must be an object with the member 'name', not an array."],
    [{ name: 'a', fields: ['title'] }, '/fields/0', 'Must be an object with the member \'name\', not "title".'],
  ])('are refused if they are invalid: %j: %s', (body, pointer, detail) =>
    expect(faultsOf(body)).toEqual([{ pointer, detail }]),
  );

  it('get all their faults named, up to a limit', () => {
    expect(faultsOf({ name: 1, mode: 2, x: 3 })).toHaveLength(3);
    const many = { name: 'a', fields: Array.from({ length: 1000 }, () => ({})) };
    expect(faultsOf(many)).toHaveLength(50);
    const huge = { name: 'a', fields: Array.from({ length: 8000 }, () => ({})) };
    expect(faultsOf(huge)).toHaveLength(1);
  });

  it('get one fault named if they have too many values, however short these are', () => {
    expect(faultsOf({ name: 'a', events: Array.from({ length: 1000 }, () => 1) })).toHaveLength(50);
    expect(faultsOf({ name: 'a', events: Array.from({ length: 5000 }, () => 1) })).toHaveLength(1);
  });

  it('are refused before parsing if they have too many members, objects or values for the operation', () => {
    const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 1]));
    const tooMuch = (body: unknown, operation = withBody) => refusal(operation, { body: bytes(body) });
    expect(tooMuch(members(10_001)).code).toBe('body-too-large');
    expect(tooMuch({ name: 'a', fields: Array.from({ length: 10_001 }, () => ({})) }).detail).toMatch(
      /^At line 1, column \d+: it has more than 10000 members, objects and arrays\.$/,
    );
    expect(tooMuch(members(9_000)).code).toBe('invalid-parameter');
    // A body with the rules of a list may have more members.
    const content = defineOperation({
      ...withBody,
      bodyPartsMax: RULES_BODY_PARTS_MAX,
      bodyBytesMax: CONTENT_BODY_BYTES_MAX,
    });
    expect(tooMuch(members(100_000), content).code).toBe('invalid-parameter');
    expect(tooMuch(members(150_001), content).code).toBe('body-too-large');
    const values = (count: number) => `[${'1,'.repeat(count - 1)}1]`;
    expect(tooMuch(values(1_000_001), content).code).toBe('body-too-large');
    // Options need at most the numbers of a vector, but records may have more values.
    const record = defineOperation({ ...withBody, bodyBytesMax: CONTENT_BODY_BYTES_MAX });
    expect(tooMuch(values(100_000)).code).toBe('body-too-large');
    expect(tooMuch(values(90_000)).code).toBe('invalid-parameter');
    expect(tooMuch(values(900_000), record).code).toBe('invalid-parameter');
    expect(() => parseJson(bytes(members(10_001)))).toThrow('more than 10000');
    expect(() => parseJson(bytes(members(150_001)), jsonBounds(content))).toThrow('more than 150000');
  });

  it('keep the digits of long integers', () => {
    const body = bytes('{"name": "a", "fields": [{"name": "12", "weight": 1.5}], "target": 12345678901234567890}');
    expect(validate(withBody, { body })).toMatchObject({ body: { target: '12345678901234567890' } });
  });

  it('are quoted in errors only as far as needed to find the fault', () => {
    expect(faultsOf({ name: 'a', mode: 'x'.repeat(100_000) })[0]?.detail.length).toBeLessThan(150);
    const [unknown] = faultsOf({ name: 'a', ['y'.repeat(100_000)]: 1 });
    expect(JSON.stringify(unknown).length).toBeLessThan(1000);
    const twice = `{"${'z'.repeat(100_000)}": 1, "${'z'.repeat(100_000)}": 1}`;
    expect(refusal(withBody, { body: bytes(twice) }).detail.length).toBeLessThan(150);
  });

  it('need the right content type', () => {
    for (const contentType of [undefined, '', 'text/json', 'application/json; charset=latin1', 'application/jsonp']) {
      expect(refusal(withBody, { body: bytes({ name: 'a' }), contentType }).code).toBe('unsupported-media-type');
    }
    const told = (contentType: string) => refusal(withBody, { body: bytes({ name: 'a' }), contentType }).detail;
    expect(told('text/json')).toBe("The content type has to be application/json in UTF-8; 'text/json' was given.");
    expect(told('application/x-www-form-urlencoded')).toMatch(/which is what curl sends without -H\.$/);
    expect(told('x'.repeat(10_000)).length).toBeLessThan(300);
    expect(refusal(withBody, { contentType: undefined }).errors).toEqual([
      { pointer: '', detail: 'A JSON body is required.' },
    ]);
  });

  it('cannot reach prototypes', () => {
    expect(refusal(withBody, { body: bytes('{"name":"a","__proto__":{"mode":"any"}}') }).code).toBe('malformed-json');
    expect(faultsOf({ name: 'a', constructor: 1 })).toMatchObject([{ pointer: '/constructor' }]);
    expect(faultsOf({ toString: 1 })).toHaveLength(2);
  });
});

describe('paths and query strings', () => {
  it('are converted to their types and checked together', () => {
    expect(validate(withQuery, { params: { version: '3' }, queryString: 'size=5&select=a,b' })).toMatchObject({
      params: { version: 3 },
      query: { size: 5, select: ['a', 'b'] },
    });
    expect(
      refusal(withQuery, { params: { version: 'newest' }, queryString: 'size=1001&slect=a&select=a,,b' }).errors,
    ).toEqual([
      { parameter: 'version', detail: 'Must be an integer or "latest", not "newest".' },
      { parameter: 'slect', detail: "Unknown option 'slect'. Did you mean 'select'?" },
      { parameter: 'size', detail: 'Must be at most 1000, not 1001.' },
      { parameter: 'select', detail: 'Must not be empty.' },
    ]);
  });

  it('say how an option in brackets is written, as libraries write several values', () => {
    for (const name of ['select[]', 'select[0]', 'select[a][b]']) {
      const queryString = `${encodeURIComponent(name)}=a&${encodeURIComponent(name)}=b`;
      expect(refusal(withQuery, { params: { version: '1' }, queryString }).errors).toEqual([
        { parameter: name, detail: `Unknown option '${name}'. Did you mean 'select', without brackets?` },
      ]);
    }
  });

  it('refuse broken encodings and what the operation does not take', () => {
    expect(refusal(withQuery, { params: { version: undefined } }).errors).toMatchObject([{ parameter: 'version' }]);
    expect(refusal(withBody, { body: bytes({ name: 'a' }), queryString: 'size=1' }).errors).toMatchObject([
      { parameter: 'size' },
    ]);
    expect(refusal(withQuery, { params: { version: '1' }, body: bytes('{}') }).errors).toMatchObject([{ pointer: '' }]);
  });
});

describe('streams', () => {
  it('get their media type without parameters', () => {
    expect(validate(withStream, { contentType: 'Text/CSV; charset=utf-8' })).toMatchObject({ contentType: 'text/csv' });
    expect(refusal(withStream, { contentType: 'image/png' }).detail).toContain('application/json, text/csv');
  });
});
