import { describe, expect, it } from 'vitest';
import { SynonymMatcher, type SynonymRule } from './synonym-matcher.js';

const split = (text: string): string[] => text.toLowerCase().split(/\s+/u).filter(Boolean);
const matcher = (...rules: SynonymRule[]): SynonymMatcher => new SynonymMatcher(rules, split);

describe('SynonymMatcher', () => {
  it('has no direction for equivalent terms', () => {
    const synonyms = matcher({ kind: 'equivalent', terms: ['sofa', 'couch'] });
    expect(synonyms.match(['red', 'couch'])).toEqual([{ begin: 1, end: 2, expansions: [['sofa']], rules: [0] }]);
    expect(synonyms.match(['sofa'])[0]?.expansions).toEqual([['couch']]);
  });

  it('reads a rewrite rule one way', () => {
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

  it('joins the rules that share a term and leaves out repeats', () => {
    const synonyms = matcher(
      { kind: 'equivalent', terms: ['tv', 'television'] },
      { kind: 'equivalent', terms: ['TV', 'telly', 'television'] },
    );
    expect(synonyms.match(['tv'])).toEqual([
      { begin: 0, end: 1, expansions: [['television'], ['telly']], rules: [0, 1] },
    ]);
  });

  it('ignores terms without any word', () => {
    expect(matcher({ kind: 'equivalent', terms: ['  ', 'couch'] }).match(['couch'])).toEqual([]);
  });
});
