import { describe, expect, it } from 'vitest';
import { vocabularyOf } from '../../../test/support/vocabulary.js';
import { ServiceError } from '../../platform/index.js';
import type { SynonymRule } from '../../synonyms/index.js';
import type { MatchMode } from '../types.js';
import type { QueryGroup } from './plan-nodes.js';
import { WRITINGS_WORDS_MAX } from '../expansion/expansion-weights.js';
import { analyseQuery, type AnalysedQuery } from '../expansion/query-analysis.js';

interface Options {
  readonly match?: MatchMode;
  readonly terms?: readonly string[];
  readonly rules?: readonly SynonymRule[];
  readonly typoTolerance?: boolean;
  readonly prefix?: boolean;
  /** Pairs of words that records have next to each other; all by default. */
  readonly neighbours?: readonly string[];
}

function analyse(query: string, options: Options = {}) {
  const { match = 'any', terms = [], rules = [], typoTolerance = true, prefix = false, neighbours } = options;
  const areNeighbours = (left: string, right: string) => neighbours?.includes(`${left} ${right}`) ?? true;
  return analyseQuery(query, vocabularyOf(terms, rules, areNeighbours), { match, typoTolerance, prefix, wordsMax: 4 });
}

function groupsOf({ node }: AnalysedQuery): readonly QueryGroup[] {
  return node.kind === 'groups' ? node.groups : [];
}

/** Returns each group as the `kind:terms` of its alternatives. */
function shapes(query: string, options: Options = {}): string[][] {
  return groupsOf(analyse(query, options)).map(({ alternatives }) =>
    alternatives.map(({ kind, terms }) => `${kind}:${terms.join(' ')}`),
  );
}

describe('query analysis', () => {
  it('matches everything without a query, and nothing without a word', () => {
    expect(analyse('').node).toEqual({ kind: 'everything' });
    expect(analyse('!?').node).toEqual({ kind: 'nothing' });
  });

  it('makes a group of each word', () => {
    expect(shapes('Red shoes')).toEqual([['typed:red'], ['typed:shoes']]);
    expect(groupsOf(analyse('Red shoes')).map(({ occur }) => occur)).toEqual(['should', 'should']);
    expect(groupsOf(analyse('Red shoes', { match: 'all' })).map(({ occur }) => occur)).toEqual(['must', 'must']);
  });

  it('merges a repeated word into a boost that grows more slowly than its count', () => {
    const [red, shoes] = groupsOf(analyse('red RED shoes red'));
    expect(red?.boost).toBeCloseTo(3 ** 0.75);
    expect(shoes?.boost).toBe(1);
  });

  it('gives function words little weight only if there are content words', () => {
    const mixed = analyse('what is the layer');
    expect(groupsOf(mixed).map(({ boost }) => boost)).toEqual([0.3, 0.3, 0.3, 1]);
    expect(mixed.node).toMatchObject({ sequence: [3], whole: [0, 1, 2, 3] });
    const misspelt = analyse('layer whith', { terms: ['layer', 'with'] });
    expect(groupsOf(misspelt).map(({ boost }) => boost)).toEqual([1, 0.3]);
    const only = analyse('to be or not');
    expect(groupsOf(only).map(({ boost }) => boost)).toEqual([1, 1, 1, 1]);
    expect(only.node).toMatchObject({ sequence: [0, 1, 2, 3] });
  });

  it('refuses a query with too many words instead of leaving some out', () => {
    const repeated = { kind: 'groups', whole: [0, 1, 2, 3, 0, 1, 2, 3] };
    expect(analyse('a b c d a b c d').node).toMatchObject(repeated);
    for (const match of ['any', 'all', 'phrase'] as const) {
      const refused = () => analyse('a b c d e', { match });
      expect(refused).toThrow(ServiceError);
      expect(refused).toThrow(/The query has 5 .*words.*at most 4/);
    }
  });
});

describe('stems and typos', () => {
  const terms = ['shoe', 'shoes', 'shot', 'chose', 'receive', 'receives', 'relieve'];

  it('adds stems of a word, then its possible corrections', () => {
    expect(shapes('shoes', { terms })).toEqual([['typed:shoes', 'stem:shoe']]);
    expect(shapes('recceive', { terms })[0]).toEqual(['typed:recceive', 'typo:receive', 'typo:receives']);
  });

  it('reports what misspelt words were taken for', () => {
    expect(analyse('recceive shoes', { terms }).typos).toEqual([{ word: 'recceive', terms: ['receive', 'receives'] }]);
  });

  it('corrects an unknown word to a function word, but not a known one', () => {
    expect(shapes('four', { terms: ['four', 'for', 'fours'] })).toEqual([['typed:four', 'stem:fours']]);
    expect(shapes('whith', { terms: ['with'] })).toEqual([['typed:whith', 'typo:with']]);
  });

  it('gives corrections of an unknown word a high weight, and those of a known one a low weight', () => {
    const weight = (query: string) => groupsOf(analyse(query, { terms }))[0]?.alternatives.at(-1)?.weight ?? 0;
    expect(weight('relievee')).toBeLessThan(1);
    expect(weight('shoot')).toBeGreaterThan(0.6);
    expect(shapes('shot', { terms: ['shot', 'shut'] })).toEqual([['typed:shot', 'typo:shut']]);
    const [known] = groupsOf(analyse('shot', { terms: ['shot', 'shut'] }));
    expect(known?.alternatives[1]?.weight).toBeLessThanOrEqual(0.1);
  });

  it('corrects no short words, no words with digits, no phrases, and none if typo_tolerance is off', () => {
    const many = ['cat', 'cats', 'bat', 'cart', 'xr500', 'xr5001', 'shoe', 'shore'];
    expect(shapes('cat', { terms: many })).toEqual([['typed:cat', 'stem:cats']]);
    expect(shapes('xr500', { terms: many })).toEqual([['typed:xr500']]);
    expect(shapes('shoe', { terms: many, match: 'phrase' })).toEqual([['typed:shoe']]);
    expect(shapes('shoe', { terms: many, typoTolerance: false })).toEqual([['typed:shoe']]);
    expect(shapes('shoe', { terms: many, match: 'all' })).toEqual([['typed:shoe', 'typo:shore']]);
  });
});

describe('an unfinished last word', () => {
  const terms = ['their', 'there', 'then', 'theory', 'theorem', 'red', 'rid'];

  it('is completed, ranked behind itself, and not taken for a function word', () => {
    const unfinished = { terms, prefix: true, typoTolerance: false };
    expect(shapes('red theo', unfinished)[1]).toEqual(['typed:theo', 'completion:theory', 'completion:theorem']);
    expect(shapes('the', unfinished)[0]).toEqual(['typed:the', 'completion:theory', 'completion:theorem']);
    expect(shapes('theo red', unfinished)[0]).not.toContain('completion:theory');
  });

  it('prefers completions to corrections', () => {
    const [group] = groupsOf(analyse('theor', { terms: ['theory', 'theorem', 'their'], prefix: true }));
    const weights = Object.fromEntries((group?.alternatives ?? []).map(({ terms: [term], weight }) => [term, weight]));
    expect(weights).toMatchObject({ theor: 1, theory: 0.6, theorem: 0.6 });
    expect(weights['their']).toBeLessThanOrEqual(0.4);
  });
});

describe('spellings', () => {
  const terms = ['xr', '500', 'xr500', 'email', 'e', 'mail', 'b', 'xr500b'];

  it('joins and splits words where letters meet digits', () => {
    expect(shapes('XR500', { terms })).toEqual([['typed:xr500', 'spelling:xr 500']]);
    const apart = [
      ['typed:xr', 'spelling:xr500'],
      ['typed:500', 'spelling:xr500'],
    ];
    expect(shapes('XR 500', { terms, match: 'all' })).toEqual(apart);
    expect(shapes('XR-500', { terms, match: 'all' })).toEqual([...apart, ['typed:xr 500']]);
    expect(shapes('XR500', { terms, match: 'phrase' })).toEqual([['typed:xr500', 'spelling:xr 500']]);
    expect(shapes('XR 500', { terms, match: 'phrase' })).toEqual([['typed:xr 500', 'spelling:xr500']]);
    expect(shapes('XR-500B', { terms })[0]).toContain('spelling:xr500b');
    expect(shapes('XR, 500', { terms })).toEqual([['typed:xr'], ['typed:500']]);
  });

  it('joins letters across a hyphen or a space, and only to words that the list has', () => {
    for (const query of ['e-mail', 'e mail']) {
      expect(shapes(query, { terms, typoTolerance: false })).toEqual([
        ['typed:e', 'spelling:email'],
        ['typed:mail', 'spelling:email'],
      ]);
    }
    expect(shapes('b mail', { terms, typoTolerance: false })).toEqual([['typed:b'], ['typed:mail']]);
    expect(shapes('e, mail', { terms, typoTolerance: false })).toEqual([['typed:e'], ['typed:mail']]);
  });

  it('splits a word that few records have into the most frequent two words of the list', () => {
    const words = ['wi', 'fi', 'wifi', 'ro', 'uter', 'rou', 'ter'];
    expect(shapes('wifi', { terms: words, typoTolerance: false })).toEqual([['typed:wifi', 'split:wi fi']]);
    expect(shapes('wifi', { terms: words, match: 'phrase' })).toEqual([['typed:wifi', 'split:wi fi']]);
    expect(shapes('wofi', { terms: words, typoTolerance: false })).toEqual([['typed:wofi']]);
    const frequencies = [...words, 'rou', 'rou', 'ter', 'ro', 'ro', 'ro'];
    expect(shapes('router', { terms: frequencies, typoTolerance: false })).toEqual([['typed:router', 'split:rou ter']]);
    expect(shapes('wifi', { terms: [...words, 'wifi'], typoTolerance: false })).toEqual([['typed:wifi']]);
    const documents = (count: number) => ['wi', 'fi', 'wifi'].flatMap((term) => Array<string>(count).fill(term));
    expect(shapes('wifi', { terms: documents(1000), typoTolerance: false })).toEqual([['typed:wifi', 'split:wi fi']]);
    expect(shapes('wifi', { terms: documents(1001), typoTolerance: false })).toEqual([['typed:wifi']]);
  });

  it('splits a word only where records have the two parts next to each other, the most frequent first', () => {
    const words = ['hazards', 'hazard', 's', 'haz', 'ards', 'hazar', 'ds', 'ds', 's', 's', 'hazard', 'hazard'];
    const split = (neighbours: readonly string[], terms: readonly string[] = words) =>
      shapes('hazards', { terms, typoTolerance: false, neighbours })[0]?.filter((each) => each.startsWith('split:'));
    expect(split(['hazard s', 'haz ards'])).toEqual(['split:hazard s']);
    expect(split(['haz ards', 's hazard'])).toEqual(['split:haz ards']);
    expect(split([])).toEqual([]);
    // A word with a mark is indexed by its parts, so that they are neighbours.
    expect(split([], [...words, 'haz_ards', 'haz', 'haz', 'haz', 'ards', 'ards', 'ards'])).toEqual(['split:haz ards']);
  });

  it('neither joins nor splits function words', () => {
    const words = ['a', 'part', 'apart', 'in', 'to', 'into'];
    expect(shapes('apart', { terms: words, typoTolerance: false })).toEqual([['typed:apart']]);
    expect(shapes('a part', { terms: words, typoTolerance: false })).toEqual([['typed:a'], ['typed:part']]);
    expect(shapes('in to', { terms: words, typoTolerance: false })).toEqual([['typed:in'], ['typed:to']]);
  });

  it('splits and joins words with a point, but not numbers', () => {
    const words = ['node.js', 'nodejs', 'node', 'js', '35', '3.5', '3', '5', 'mm'];
    expect(shapes('node.js', { terms: words, typoTolerance: false })).toEqual([
      ['typed:node.js', 'spelling:nodejs', 'spelling:node js'],
    ]);
    // The parts of node.js are indexed as well.
    expect(shapes('node js', { terms: words, typoTolerance: false })).toEqual([
      ['typed:node', 'spelling:nodejs'],
      ['typed:js', 'spelling:nodejs'],
    ]);
    expect(shapes('nodejs', { terms: words, typoTolerance: false })).toEqual([
      ['typed:nodejs', 'split:node js', 'spelling:node.js'],
    ]);
    expect(shapes('3.5', { terms: words, typoTolerance: false })).toEqual([['typed:3.5']]);
    expect(shapes('3.5mm', { terms: words, typoTolerance: false })).toEqual([['typed:3.5mm', 'spelling:3.5 mm']]);
  });

  it('looks up a bounded number of spellings, however long the query is', () => {
    const vocabulary = vocabularyOf([]);
    let asked = 0;
    let split = 0;
    const { dictionary } = vocabulary;
    const documentFrequencies = dictionary.documentFrequencies.bind(dictionary);
    const splits = dictionary.splits.bind(dictionary);
    dictionary.documentFrequencies = (terms) => {
      asked += terms.length;
      return documentFrequencies(terms);
    };
    dictionary.splits = (word) => {
      split += 1;
      return splits(word);
    };
    const letters = (number: number): string =>
      [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
    const words = Array.from({ length: 2000 }, (_, index) => `word${letters(index)}long`);
    analyseQuery(
      words.join(' '),
      { ...vocabulary, dictionary },
      { match: 'any', typoTolerance: false, prefix: false, wordsMax: 2000 },
    );
    expect(split).toBe(WRITINGS_WORDS_MAX);
    expect(asked).toBeGreaterThan(WRITINGS_WORDS_MAX);
    expect(asked).toBeLessThan(5 * WRITINGS_WORDS_MAX);
  });
});

describe('synonyms', () => {
  const rules: SynonymRule[] = [
    { kind: 'equivalent', terms: ['new york', 'nyc', 'big apple'] },
    { kind: 'equivalent', terms: ['york', 'jorvik'] },
    { kind: 'rewrite', terms: ['tablet'], replace_with: ['ipad'] },
  ];

  it('adds a synonym to every word that it stands for, and prefers a phrase to a word', () => {
    expect(shapes('nyc tablets', { rules })).toEqual([
      ['typed:nyc', 'synonym:new york', 'synonym:big apple'],
      ['typed:tablets'],
    ]);
    expect(shapes('new york', { rules, match: 'all' })).toEqual([
      ['typed:new', 'synonym:nyc', 'synonym:big apple'],
      ['typed:york', 'synonym:nyc', 'synonym:big apple'],
    ]);
    expect(shapes('old york', { rules })[1]).toEqual(['typed:york', 'synonym:jorvik']);
  });

  it('rewrites in one direction, and adds the stems of synonyms', () => {
    expect(shapes('tablet', { rules, terms: ['ipads'] })).toEqual([['typed:tablet', 'synonym:ipad', 'synonym:ipads']]);
    expect(shapes('ipad', { rules })).toEqual([['typed:ipad']]);
  });

  it('writes a phrase with its synonyms in every combination', () => {
    expect(shapes('nyc tablet hotel', { rules, match: 'phrase' })[0]?.sort()).toEqual([
      'synonym:big apple ipad hotel',
      'synonym:big apple tablet hotel',
      'synonym:new york ipad hotel',
      'synonym:new york tablet hotel',
      'synonym:nyc ipad hotel',
      'typed:nyc tablet hotel',
    ]);
  });

  it('reports which rules applied', () => {
    expect(analyse('nyc tablet', { rules }).synonyms).toEqual([
      { word: 'nyc', terms: ['new york', 'big apple'], rules: [0] },
      { word: 'tablet', terms: ['ipad'], rules: [2] },
    ]);
  });

  it('limits the number of variants of a phrase', () => {
    const many: SynonymRule[] = ['a', 'b', 'c', 'd'].map((word) => ({
      kind: 'equivalent',
      terms: [word, ...Array.from({ length: 50 }, (_, index) => `${word}x${String.fromCharCode(97 + index)}`)],
    }));
    expect(shapes('a b c d', { rules: many, match: 'phrase' })[0]).toHaveLength(128);
  });
});
