import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../platform/index.js';
import type { MatchMode } from '../types.js';
import { expandWord } from './expansion.js';
import { analyseQuery, type QueryAnalysisOptions } from './query-analysis.js';

const OPTIONS: QueryAnalysisOptions = {
  analyse: (text) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [],
  expansion: { language: 'en', typoTolerance: true },
  groupsMax: 4,
  phraseTermsMax: 4,
};
const analyse = (query: string, match: MatchMode = 'any') => analyseQuery(query, match, OPTIONS);
const word = (occur: string, term: string, boost = 1) => ({
  occur,
  boost,
  alternatives: [{ weight: 1, terms: [term] }],
});

describe('query analysis', () => {
  it('matches everything without a query and nothing without a word', () => {
    expect(analyse('')).toEqual({ kind: 'everything' });
    expect(analyse('!?')).toEqual({ kind: 'nothing' });
  });

  it('makes a group of each word', () => {
    expect(analyse('Red shoes')).toEqual({ kind: 'groups', groups: [word('should', 'red'), word('should', 'shoes')] });
    expect(analyse('Red shoes', 'all')).toEqual({
      kind: 'groups',
      groups: [word('must', 'red'), word('must', 'shoes')],
    });
  });

  it('merges a repeated word into a boost', () => {
    expect(analyse('red RED shoes red')).toEqual({
      kind: 'groups',
      groups: [word('should', 'red', 3), word('should', 'shoes')],
    });
  });

  it('keeps a phrase as it is, repetitions too', () => {
    expect(analyse('to be to', 'phrase')).toEqual({
      kind: 'groups',
      groups: [{ occur: 'must', boost: 1, alternatives: [{ weight: 1, terms: ['to', 'be', 'to'] }] }],
    });
  });

  it('says so when a query has too many words instead of leaving some out', () => {
    expect(analyse('a b c d a b c d')).toMatchObject({ kind: 'groups' });
    for (const match of ['any', 'all', 'phrase'] as const) {
      const refused = () => analyse('a b c d e', match);
      expect(refused).toThrow(ServiceError);
      expect(refused).toThrow(/The query has 5 .*words.*4 at most/);
    }
  });

  it('expands words by each expander in turn, the typed word first', () => {
    const plural = { expand: (typed: string) => [{ weight: 0.5, terms: [`${typed}s`] }] };
    const counted = { expand: (_: string, found: readonly unknown[]) => [{ weight: 0.1, terms: [`${found.length}`] }] };
    expect(expandWord('shoe', OPTIONS.expansion, [plural, counted])).toEqual([
      { weight: 1, terms: ['shoe'] },
      { weight: 0.5, terms: ['shoes'] },
      { weight: 0.1, terms: ['2'] },
    ]);
  });
});
