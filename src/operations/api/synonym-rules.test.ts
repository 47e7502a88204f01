/** Checks of many synonym rules, which let other work run in between. */
import { expect, it } from 'vitest';
import type { SynonymRule } from '../../search/index.js';
import { SYNONYM_CHARACTERS_OF_LIST_MAX, SYNONYM_TERMS_OF_LIST_MAX } from '../../synonyms/index.js';
import { checkedSynonymRules } from './synonym-rules.js';

const rulesOf = (count: number, termsEach: number, term: (number: number) => string): SynonymRule[] =>
  Array.from({ length: count }, (_, rule) => ({
    kind: 'equivalent',
    terms: Array.from({ length: termsEach }, (_, place) => term(rule * termsEach + place)),
  }));

it('checkedSynonymRules lets other work run while it checks many rules', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const rules = rulesOf(4000, 5, (number) => ` term ${number} `);
  const checked = await checkedSynonymRules(rules, '/rules');
  isOver = true;
  expect(turns).toBeGreaterThan(3);
  expect(checked).toHaveLength(4000);
  expect(checked[1]).toEqual({
    kind: 'equivalent',
    terms: ['term 5', 'term 6', 'term 7', 'term 8', 'term 9'],
  });
});

it('checkedSynonymRules accepts fewer, but not more rules if a list is already beyond the limit', async () => {
  const stored = rulesOf(1010, 100, (number) => `t${number}`);
  expect(await checkedSynonymRules(stored.slice(1), '/rules', { synonym_rules: stored })).toHaveLength(1009);
  const more = [...stored, ...rulesOf(1, 2, (number) => `more ${number}`)];
  await expect(checkedSynonymRules(more, '/rules', { synonym_rules: stored })).rejects.toMatchObject({
    errors: [{ pointer: '/rules' }],
  });
  const longer = stored.map((rule) => ({ ...rule, terms: rule.terms.map((term) => term.padEnd(50, 'x')) }));
  await expect(checkedSynonymRules(longer, '/rules', { synonym_rules: stored })).rejects.toMatchObject({
    errors: [{ pointer: '/rules' }],
  });
});

it('checkedSynonymRules refuses too many rules before it checks any of them', async () => {
  const tooMany = rulesOf(1001, 100, (number) => `t${number}`);
  expect(SYNONYM_TERMS_OF_LIST_MAX).toBe(100_000);
  await expect(checkedSynonymRules(tooMany, '/rules')).rejects.toMatchObject({
    code: 'invalid-parameter',
    errors: [{ pointer: '/rules', detail: 'The rules have 100100 terms together; those of a list may have 100000.' }],
  });
  const tooLong = rulesOf(SYNONYM_CHARACTERS_OF_LIST_MAX / 400 + 1, 2, (number) => `${number} `.padEnd(200, 'x'));
  await expect(checkedSynonymRules(tooLong, '/rules')).rejects.toMatchObject({ errors: [{ pointer: '/rules' }] });
});
