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

export const synonymRule = named(
  'SynonymRule',
  {
    kind: oneOf(['equivalent', 'rewrite'], {
      description:
        '`equivalent`: each of the terms also finds all others. `rewrite`: each of the terms also finds the words of `replace_with`, but not the reverse',
    }),
    terms: terms('Terms of the rule: at least two for an `equivalent` rule, at least one for a `rewrite` rule', [
      ['mri', 'magnetic resonance imaging'],
    ]),
    replace_with: Type.Optional(
      terms('Only for a `rewrite` rule, which needs it: words that the terms also find', [['laptop']]),
    ),
  },
  { description: 'A rule by which a query also finds other words' },
);

export const synonymRules = Type.Array(synonymRule, {
  maxItems: SYNONYM_RULES_MAX,
  description: `Synonym rules of the list. They are applied to the query of a search; records are not indexed again. A rule for a phrase takes precedence over rules for the words in it. A term stands for all writings of it in which letters and digits are joined or apart (XR-500, XR500, XR 500). All rules together may have at most ${SYNONYM_TERMS_OF_LIST_MAX} terms with ${SYNONYM_CHARACTERS_OF_LIST_MAX} characters`,
});
