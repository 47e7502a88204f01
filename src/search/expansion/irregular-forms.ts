/** English plurals that no ending tells, so that stems do not find them: `mice` and `mouse`. Without those that are forms of verbs, too (leaves, lives). */
const SINGULAR_PLURAL =
  'child children, grandchild grandchildren, man men, woman women, foot feet, tooth teeth, goose geese, mouse mice, louse lice, ox oxen, ' +
  'wolf wolves, knife knives, wife wives, shelf shelves, thief thieves, loaf loaves';
const forms = new Map(
  SINGULAR_PLURAL.split(', ')
    .map((pair) => pair.split(' ') as [string, string])
    .flatMap(([singular, plural]) => [
      [singular, plural],
      [plural, singular],
    ]),
);

/** The other number of a folded word; `language`: BCP 47 primary tag. */
export function irregularForm(term: string, language: string): string | undefined {
  return language === 'en' ? forms.get(term) : undefined;
}
