/** Prints proposals as text for people. */
import type { AnswerPrinter } from '../operations/index.js';

interface ShownSuggestion {
  readonly supported: boolean;
  readonly by: string;
  readonly note: string | null;
  readonly proposals: readonly {
    readonly rule: { readonly terms: readonly string[] };
    readonly basis: { readonly kind: string; readonly text: string; readonly count: number };
    readonly added: number;
  }[];
}

export const suggestionText: AnswerPrinter = (answer, { table, count, counted }) => {
  const { supported, by, note, proposals } = answer as ShownSuggestion;
  const said = note === null ? [] : [note];
  if (!supported) return 'The records of this list cannot be read for proposals.';
  if (proposals.length === 0)
    return [...said, 'None needed: nothing in the searches or records asks for one.'].join('\n');
  const rows = proposals.map(({ rule, basis, added }) => [
    rule.terms.join(' = '),
    basis.kind === 'empty-search'
      ? `'${basis.text}' found nothing, searched ${counted(basis.count, 'time')}`
      : `'${basis.text}' is spelt out in ${counted(basis.count, 'record')}`,
    `+${count(added)}`,
  ]);
  const proposed = table([['PROPOSED RULE', 'BECAUSE', 'FINDS'], ...rows]);
  return [...said, proposed, `Proposed by: ${by}. Nothing is saved.`].join('\n');
};
