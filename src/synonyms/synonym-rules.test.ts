import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SYNONYM_TERM_PATTERN, synonymRuleFaults } from './synonym-rules.js';

const pieces = fc.constantFrom('a', ' ', '-', '=', '>', ',', '#', '\\', '→', '⇒', '⟶', '\n', 'é', '->', '=>');

describe('SYNONYM_TERM_PATTERN', () => {
  it('refuses exactly the terms with forbidden characters', () => {
    const pattern = new RegExp(SYNONYM_TERM_PATTERN, 'u');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const term = `a${parts.join('')}`;
        const faults = synonymRuleFaults({ kind: 'rewrite', terms: [term], replace_with: ['b'] }, '', (text) => [text]);
        expect(pattern.test(term), JSON.stringify(term)).toBe(faults.length === 0);
      }),
      { seed: 14, numRuns: 5000 },
    );
  });

  it.each([...'←↑→↓↔⇐⇒⇔↦⟵⟶⟹⟼➔➙➜➡⤳⬅⬌⭢￫', '->', '=>', '-->', '<=>'])('recognizes %s as an arrow', (arrow) => {
    const terms = [`a ${arrow} b`, 'c'];
    expect(synonymRuleFaults({ kind: 'equivalent', terms }, '', (text) => [text])).toEqual([
      { pointer: '/terms/0', detail: 'A term cannot contain an arrow.' },
    ]);
    expect(new RegExp(SYNONYM_TERM_PATTERN, 'u').test(terms[0] ?? '')).toBe(false);
  });

  it.each(['C++', 'a < b', 'a > b', 'a<=b', 'R&D', 'x-ray', 'half = ½', '∴', '⊂', '✓', '★', '️❤'])(
    'accepts %s',
    (sign) => {
      const terms = [sign, 'c'];
      expect(synonymRuleFaults({ kind: 'equivalent', terms }, '', (text) => [text])).toEqual([]);
      expect(new RegExp(SYNONYM_TERM_PATTERN, 'u').test(sign)).toBe(true);
    },
  );
});
