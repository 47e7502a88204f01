/** Schemas of synonym rules. */
import { Type } from 'typebox';
import {
  SYNONYM_CHARACTERS_OF_LIST_MAX,
  SYNONYM_RULES_MAX,
  SYNONYM_TERMS_OF_LIST_MAX,
  SYNONYM_TERM_CHARACTERS_MAX,
  SYNONYM_TERM_PATTERN,
  SYNONYM_TERMS_MAX,
} from '../../synonyms/index.js';
import { named, oneOf, patterned } from './schemas.js';

const TERM_WORDS =
  'one word, or several that are matched as a phrase, with a letter or digit; without a comma, an arrow, a # or a backslash';
const terms = (description: string, examples: readonly (readonly string[])[]) =>
  Type.Array(
    patterned(SYNONYM_TERM_PATTERN, TERM_WORDS, {
      minLength: 1,
      maxLength: SYNONYM_TERM_CHARACTERS_MAX,
      description: `${TERM_WORDS.charAt(0).toUpperCase()}${TERM_WORDS.slice(1)}`,
    }),
    { maxItems: SYNONYM_TERMS_MAX, description, examples: examples.map((example) => [...example]) },
  );

export const synonymRule = named('SynonymRule', {
  kind: oneOf(['equivalent', 'rewrite'], {
    description:
      '`equivalent`: all terms mean the same. `rewrite`: the terms find the replace_with words, not the reverse',
  }),
  terms: terms('At least two of an equivalent rule, one of a rewrite rule', [['mri', 'magnetic resonance imaging']]),
  replace_with: Type.Optional(terms('Of a rewrite rule: what its terms find too', [['laptop']])),
});

export const synonymRules = Type.Array(synonymRule, {
  maxItems: SYNONYM_RULES_MAX,
  description: `Applied to the query at search time; a phrase takes precedence over the words in it. Nothing is indexed again. At most ${SYNONYM_TERMS_OF_LIST_MAX} terms with ${SYNONYM_CHARACTERS_OF_LIST_MAX} characters in all rules together`,
});
