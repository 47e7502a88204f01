/** Compares the preview of a synonym rule with what searches find with and without the rule. */
import { holdsTrue, same } from './difference.js';
import type { Operation } from './operations.js';
import { answered, type ReplayState } from './replay-state.js';

interface Side {
  readonly total_count: number;
  readonly results: readonly { readonly name: string }[];
}
interface Preview {
  readonly changes_nothing: boolean;
  readonly words: readonly {
    readonly word: string;
    readonly before: Side;
    readonly after: Side;
    readonly added: number;
  }[];
}

export async function checkPreview(
  state: ReplayState,
  { list, rule }: Extract<Operation, { kind: 'preview' }>,
): Promise<void> {
  const reference = state.list(list);
  // The reference cannot tell which records a text model finds.
  if (reference.model === 'texts') return;
  const path = `/list/synonym-preview/default/${state.name(list)}`;
  const preview = (await answered(state.client.post(path, rule), 200)).body as Preview;
  same(
    'words of a preview',
    preview.words.map(({ word }) => word),
    rule.terms,
  );
  const withRule = reference.copy();
  withRule.rules = [...reference.rules, rule];
  for (const { word, before, after, added } of preview.words) {
    const query = { words: word.split(' '), match: 'any', typos: true } as const;
    const found = [reference, withRule].map((each) => new Set(each.search({ query }).map(({ name }) => name)));
    const [without = new Set(), having = new Set()] = found;
    same('counts of a preview', [before.total_count, after.total_count], [without.size, having.size]);
    for (const [side, names] of [
      [before, without],
      [after, having],
    ] as const)
      for (const { name } of side.results) holdsTrue('hit of a preview', names.has(name), () => [word, name]);
    // May be negative: a phrase takes precedence over the rules of its words, so a rule may reduce what is found.
    same('records that a rule adds', added, having.size - without.size);
  }
  const isSame = preview.words.every(
    ({ before, after }) => JSON.stringify(namesOf(before)) === JSON.stringify(namesOf(after)),
  );
  same('changes_nothing', preview.changes_nothing, isSame);
}

const namesOf = ({ total_count: total, results }: Side) => [total, ...results.map(({ name }) => name)];
