import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VECTORS_PER_RECORD_MAX } from '../vectors/index.js';
import { cutPassages, estimateTokens, PASSAGES_MAX } from './passages.js';

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.lorem({ mode: 'sentences', maxCount: 20 }),
  fc.constantFrom('', ' ', '東京は日本の首都です。人口は多い。'.repeat(20), 'x'.repeat(2000), 'a. b! c? '.repeat(50)),
);
/** Returns the count if all passages begin with the same number of letters, otherwise NaN. */
function lettersOfHead(passages: readonly string[], count: number): number {
  const heads = new Set(passages.map((passage) => letters(passage).slice(0, count)));
  return Number.isInteger(count) && count > 0 && heads.size === 1 ? count : NaN;
}
const letters = (text: string) => text.replace(/\s+/g, '');

describe('cutPassages', () => {
  it('loses nothing of a text, keeps passages within the limit, and begins each with the title', () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 8, max: 200 }), (title, text, tokensMax) => {
        const passages = cutPassages({ title, text }, tokensMax, estimateTokens);
        if (title.trim() === '' && text.trim() === '') {
          expect(passages).toEqual([]);
          return;
        }
        for (const passage of passages) expect(estimateTokens(passage)).toBeLessThanOrEqual(tokensMax + 1);
        const first = (passages[0] as string).split('\n')[0] as string;
        if (passages.length > 1 && !/\n/.test(title) && title.trim() !== '' && text.trim() !== '') {
          for (const passage of passages) expect(passage.startsWith(first)).toBe(true);
        }
        const whole = letters(title + text);
        const all = letters(passages.join(''));
        expect(whole.startsWith(letters(passages[0] ?? ''))).toBe(true);
        // The other passages repeat the beginning of the title.
        const repeated = (all.length - whole.length) / Math.max(1, passages.length - 1);
        expect(repeated).toBe(
          title.trim() === '' || text.trim() === '' || passages.length === 1 ? 0 : lettersOfHead(passages, repeated),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('loses nothing of a title that is longer than its share, nor of a title without a text', () => {
    const long = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    const beside = cutPassages({ title: long, text: 'The end.' }, 40, estimateTokens).join(' ');
    const alone = cutPassages({ title: long, text: '' }, 40, estimateTokens);
    expect(long.split(' ').filter((word) => !beside.split(/\s/).includes(word))).toEqual([]);
    expect(beside).toMatch(/The end\.$/);
    expect(alone.join(' ')).toBe(long);
  });

  it('keeps sentences whole if they fit', () => {
    const text = 'The gannet dives. It hits the water at speed. Then it swims after fish.';
    const passages = cutPassages({ title: 'Gannets', text }, 16, estimateTokens);
    expect(passages).toEqual([
      'Gannets\nThe gannet dives.',
      'Gannets\nIt hits the water at speed.',
      'Gannets\nThen it swims after fish.',
    ]);
  });

  it('leaves a short record whole, and makes more passages of a very long one than a record can have vectors', () => {
    expect(cutPassages({ title: 'Title', text: 'Text.' }, 100, estimateTokens)).toEqual(['Title\nText.']);
    const long = cutPassages({ title: '', text: 'A word here. '.repeat(20_000) }, 8, estimateTokens);
    expect(long).toHaveLength(PASSAGES_MAX);
    expect(PASSAGES_MAX).toBeGreaterThan(VECTORS_PER_RECORD_MAX);
  });
});
