import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SynonymMatcher, type SynonymRule } from './synonym-matcher.js';

const split = (text: string): string[] => text.toLowerCase().split(/\s+/u).filter(Boolean);
const matcher = (...rules: SynonymRule[]): SynonymMatcher => new SynonymMatcher(rules, split);

describe('SynonymMatcher', () => {
  it('expands equivalent terms in both directions', () => {
    const synonyms = matcher({ kind: 'equivalent', terms: ['sofa', 'couch'] });
    expect(synonyms.match(['red', 'couch'])).toEqual([{ begin: 1, end: 2, expansions: [['sofa']], rules: [0] }]);
    expect(synonyms.match(['sofa'])[0]?.expansions).toEqual([['couch']]);
  });

  it('expands a rewrite rule in one direction', () => {
    const synonyms = matcher({ kind: 'rewrite', terms: ['tablet'], replace_with: ['ipad'] });
    expect(synonyms.match(['tablet'])[0]?.expansions).toEqual([['ipad']]);
    expect(synonyms.match(['ipad'])).toEqual([]);
  });

  it('prefers a phrase to the words in it', () => {
    const synonyms = matcher(
      { kind: 'equivalent', terms: ['york', 'jorvik'] },
      { kind: 'equivalent', terms: ['new york', 'nyc'] },
      { kind: 'equivalent', terms: ['new york city', 'big apple'] },
    );
    expect(synonyms.match(split('new york hotel'))).toEqual([{ begin: 0, end: 2, expansions: [['nyc']], rules: [1] }]);
    expect(synonyms.match(split('new york city'))).toEqual([
      { begin: 0, end: 3, expansions: [['big', 'apple']], rules: [2] },
    ]);
    expect(synonyms.match(split('old york'))).toEqual([{ begin: 1, end: 2, expansions: [['jorvik']], rules: [0] }]);
  });

  it('joins the rules that share a term, without duplicates', () => {
    const synonyms = matcher(
      { kind: 'equivalent', terms: ['tv', 'television'] },
      { kind: 'equivalent', terms: ['TV', 'telly', 'television'] },
    );
    expect(synonyms.match(['tv'])).toEqual([
      { begin: 0, end: 1, expansions: [['television'], ['telly']], rules: [0, 1] },
    ]);
  });

  it('matches all words together, or nothing', () => {
    const synonyms = matcher({ kind: 'equivalent', terms: ['new york', 'nyc'] }).withRule({
      kind: 'rewrite',
      terms: ['new york'],
      replace_with: ['big apple'],
    });
    expect(synonyms.matchOfAll(['new', 'york'])).toEqual({
      begin: 0,
      end: 2,
      expansions: [['nyc'], ['big', 'apple']],
      rules: [0, 1],
    });
    expect(synonyms.matchOfAll(['nyc'])?.expansions).toEqual([['new', 'york']]);
    for (const words of [[], ['new'], ['new', 'york', 'nyc'], ['big', 'apple']])
      expect(synonyms.matchOfAll(words)).toBeUndefined();
  });

  it('ignores terms without a word', () => {
    expect(matcher({ kind: 'equivalent', terms: ['  ', 'couch'] }).match(['couch'])).toEqual([]);
  });

  it('matches the same rules among thousands of others, and after its caches were evicted', () => {
    const rules = Array.from({ length: 30_000 }, (_, number): SynonymRule => {
      const terms = [`new ${number}`, `thing ${number}`, `w${number}`];
      return number % 3 === 0
        ? { kind: 'rewrite', terms, replace_with: [`replaced ${number}`, '𝒜 ß'] }
        : { kind: 'equivalent', terms };
    });
    const synonyms = matcher(...rules);
    for (const number of [0, 1, 9999, 29_999, 1]) {
      const isRewrite = number % 3 === 0;
      const wanted = (...others: string[]) =>
        isRewrite
          ? [
              ['replaced', String(number)],
              ['𝒜', 'ß'],
            ]
          : others.map((term) => term.split(' '));
      expect(synonyms.match(['see', 'new', String(number)])).toEqual([
        { begin: 1, end: 3, expansions: wanted(`thing ${number}`, `w${number}`), rules: [number] },
      ]);
      expect(synonyms.match([`w${number}`])).toEqual([
        { begin: 0, end: 1, expansions: wanted(`new ${number}`, `thing ${number}`), rules: [number] },
      ]);
    }
    expect(synonyms.match(['new', '30000', 'w30000', 'replaced'])).toEqual([]);
  });

  it('distinguishes terms whose ends are halves of one character', () => {
    const synonyms = matcher({ kind: 'equivalent', terms: ['a\ud835', '\udc9c', 'b'] });
    expect(synonyms.match(['b'])[0]?.expansions).toHaveLength(2);
    expect(synonyms.match(['b'])[0]?.expansions[0]?.[0]).toMatch(/^a/);
  });

  it('matches with an added rule as if it had been among the others', () => {
    const term = fc.constantFrom('a', 'b', 'a b', 'b a', 'a b c', 'c', '');
    const terms = fc.array(term, { minLength: 1, maxLength: 3 });
    const rule = fc.oneof(
      fc.record({ kind: fc.constant('equivalent' as const), terms }),
      fc.record({ kind: fc.constant('rewrite' as const), terms, replace_with: terms }),
    );
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 4 }), rule, rule, fc.array(term), (rules, one, other, query) => {
        const words = split(query.join(' '));
        const before = matcher(...rules);
        const more = before.withRule(one).withRule(other);
        expect(more.match(words)).toEqual(matcher(...rules, one, other).match(words));
        expect(more.isEmpty).toBe(matcher(...rules, one, other).isEmpty);
        expect(before.match(words)).toEqual(matcher(...rules).match(words));
      }),
      { numRuns: 2000 },
    );
  });
});
