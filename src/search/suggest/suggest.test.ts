import { describe, expect, it } from 'vitest';
import { foldFacetValue } from '../../platform/index.js';
import { markedAround, typedRange } from './marking.js';
import { chooseSuggestions } from './suggest-executor.js';
import { editsAllowed, SUGGESTION_TIERS } from './suggestion-source.js';

describe('typedRange', () => {
  it.each<[string, string, string | undefined]>([
    ['New York', 'new', 'New'],
    ['New York', 'yo', 'Yo'],
    ['New York', 'ork', undefined],
    ['Île-de-France', 'île', 'Île'],
    ['I\u0302le', 'île', 'I\u0302l' + 'e'],
    ['Straße 1', 'stras', 'Straß'],
    ['a b a', 'a', 'a'],
  ])('of %s and %s is %s', (name, typed, expected) => {
    const range = typedRange(name, typed, foldFacetValue);
    expect(range === undefined ? undefined : name.slice(range.begin, range.end)).toBe(expected);
  });
});

it('markedAround highlights what was not typed and escapes everything', () => {
  expect(markedAround('a<b>c', 1, 2)).toBe('<em>a</em>&lt;<em>b&gt;c</em>');
  expect(markedAround('"abc"', 0, 5)).toBe('&quot;abc&quot;');
});

it('editsAllowed allows as many edits for suggestions as for searches', () => {
  expect(['abc', 'abcd', 'abcdefg', 'abcdefgh', 'abcd1'].map((word) => editsAllowed(word, true))).toEqual([
    0, 1, 1, 2, 0,
  ]);
  expect(editsAllowed('abcdefgh', false)).toBe(0);
});

describe('chooseSuggestions', () => {
  const tier = SUGGESTION_TIERS.word;
  const of = (kind: 'record' | 'query', count: number, listName?: string) =>
    Array.from({ length: count }, (_, index) => ({
      text: `${kind} ${index}`,
      kind,
      written: () => ({ text: '', highlight: '' }),
      tier,
      listName,
      ...(kind === 'query' ? { recordCount: 10 - index } : {}),
    }));
  const kinds = (chosen: readonly { kind: string }[]) => chosen.map(({ kind }) => kind[0]).join('');

  it('shares the places equally between records and queries, and gives unused ones to the other kind', () => {
    expect(kinds(chooseSuggestions([...of('record', 9), ...of('query', 9)], 8))).toBe('rrrrqqqq');
    expect(kinds(chooseSuggestions([...of('record', 9), ...of('query', 1)], 4))).toBe('rrrq');
    expect(kinds(chooseSuggestions([...of('record', 1), ...of('query', 9)], 4))).toBe('rqqq');
  });

  it('shows a query of several lists once, with the sum of its counts', () => {
    const chosen = chooseSuggestions([...of('query', 1, 'one'), ...of('query', 2, 'two')], 8);
    expect(chosen.map(({ text, recordCount }) => [text, recordCount])).toEqual([
      ['query 0', 20],
      ['query 1', 9],
    ]);
  });
});
