/** Many synonym rules, checked beside everything else. */
import { expect, it } from 'vitest';
import type { SynonymRule } from '../../search/index.js';
import { SYNONYM_CHARACTERS_OF_LIST_MAX, SYNONYM_TERMS_OF_LIST_MAX } from '../../synonyms/index.js';
import { checkedSynonymRules } from './synonym-rules.js';

const rulesOf = (count: number, termsEach: number, term: (number: number) => string): SynonymRule[] =>
  Array.from({ length: count }, (_, rule) => ({
    kind: 'equivalent',
    terms: Array.from({ length: termsEach }, (_, place) => term(rule * termsEach + place)),
  }));

it('are checked while others have their turns', async () => {
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

it('may become fewer where a list has more than it may have, and no more of them', async () => {
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

it('are refused before they are looked at where they are more than a list may have', async () => {
  const tooMany = rulesOf(1001, 100, (number) => `t${number}`);
  expect(SYNONYM_TERMS_OF_LIST_MAX).toBe(100_000);
  await expect(checkedSynonymRules(tooMany, '/rules')).rejects.toMatchObject({
    code: 'invalid-parameter',
    errors: [{ pointer: '/rules', detail: 'The rules have 100100 terms together; those of a list may have 100000.' }],
  });
  const tooLong = rulesOf(SYNONYM_CHARACTERS_OF_LIST_MAX / 400 + 1, 2, (number) => `${number} `.padEnd(200, 'x'));
  await expect(checkedSynonymRules(tooLong, '/rules')).rejects.toMatchObject({ errors: [{ pointer: '/rules' }] });
});
