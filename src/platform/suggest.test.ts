import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from './suggest.js';

const OPTIONS = ['order_by', 'select', 'skip', 'size', 'typo_tolerance'];

describe('nearest', () => {
  it.each([
    ['orderby', 'order_by'],
    ['orderBy', 'order_by'],
    ['typo_tolerence', 'typo_tolerance'],
    ['selects', 'select'],
    ['sise', 'size'],
    ['szie', 'size'],
  ])('finds the option meant by %s', (word, meant) => expect(nearest(word, OPTIONS)).toBe(meant));

  it.each(['banana', '', 'x'.repeat(10_000)])('finds nothing near %.10s', (word) =>
    expect(nearest(word, OPTIONS)).toBeUndefined(),
  );
});

describe('didYouMean', () => {
  it('returns an empty text or a sentence', () => {
    expect(didYouMean('skp', OPTIONS)).toBe(" Did you mean 'skip'?");
    expect(didYouMean('banana', OPTIONS)).toBe('');
  });
});
