import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import type { ErrorPlace } from '../../platform/index.js';
import { queryFormOf, readQueryString } from './query-string.js';

const form = queryFormOf(
  Type.Object({
    text: Type.String(),
    size: Type.Integer(),
    score: Type.Number(),
    flag: Type.Boolean(),
    names: Type.Array(Type.String()),
    numbers: Type.Array(Type.Integer()),
    select: Type.String({ 'x-separator': ',' }),
    mode: Type.Union([Type.Literal('any'), Type.Literal('all')]),
    version: Type.Union([Type.Integer(), Type.Literal('latest')]),
    radius: Type.Union([Type.String(), Type.Object({ distance: Type.Number() })]),
  }),
);

function read(text: string): { options: Record<string, unknown>; faults: ErrorPlace[] } {
  const faults: ErrorPlace[] = [];
  return { options: readQueryString(text, form, faults), faults };
}

describe('readQueryString', () => {
  it.each([
    ['text=1', { text: '1' }],
    ['text=a+b%20c%2B', { text: 'a b c+' }],
    ['text', { text: '' }],
    ['text=a=b', { text: 'a=b' }],
    ['size=10&score=-0.5e1', { size: 10, score: -5 }],
    ['flag=TRUE', { flag: true }],
    ['flag=0', { flag: false }],
    ['names=a,%20b%2Cc', { names: ['a', 'b', 'c'] }],
    ['names=', { names: [] }],
    ['numbers=1,x', { numbers: [1, 'x'] }],
    ['mode=all', { mode: 'all' }],
    ['version=3', { version: 3 }],
    ['version=latest', { version: 'latest' }],
    ['radius=51.5,-0.12,10km', { radius: '51.5,-0.12,10km' }],
    ['radius=%7B%22distance%22:1%7D', { radius: { distance: 1 } }],
    ['&&', {}],
    // As most libraries write several values.
    ['names=a&names=b,c&names=', { names: ['a', 'b', 'c'] }],
    ['numbers=1&numbers=2', { numbers: [1, 2] }],
    ['select=a&text=x&select=b,c&select=&select=d', { select: 'a,b,c,d', text: 'x' }],
    ['select=&select=a', { select: 'a' }],
    // What does not have the type of the schema stays text, so that validation refuses it.
    ['size=1e3', { size: '1e3' }],
    ['size=010', { size: '010' }],
    ['size=%201', { size: ' 1' }],
    ['flag=yes', { flag: 'yes' }],
    ['score=Infinity', { score: 'Infinity' }],
    ['unknown=1', { unknown: '1' }],
  ])('reads %s', (text, options) => expect(read(text)).toEqual({ options, faults: [] }));

  it('refuses options given twice and broken encodings', () => {
    expect(read('size=1&size=2').faults).toEqual([
      { parameter: 'size', detail: 'The parameter is given more than once, but takes one value.' },
    ]);
    // The value is one text, or has commas of its own.
    expect(read('radius=1,2,3&radius=4,5,6').faults).toMatchObject([{ parameter: 'radius' }]);
    // That there is no such option says more.
    expect(read('other=1&other=2').faults).toEqual([]);
    expect(read('text=%ff').faults).toMatchObject([{ parameter: 'text' }]);
    expect(read('text=%').faults).toHaveLength(1);
    expect(read('%zz=1').faults).toHaveLength(1);
  });

  it('keeps __proto__ as an own member, so that it is refused like any unknown name', () => {
    const { options } = read('__proto__=x');
    expect(Object.keys(options)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(options)).toBe(Object.prototype);
  });

  it('returns any text that was percent-encoded', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !/\p{Surrogate}/u.test(value));
    fc.assert(
      fc.property(text, (value) => {
        expect(read(`text=${encodeURIComponent(value)}`).options).toEqual({ text: value });
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void read(text)));
  });
});
