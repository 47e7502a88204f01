/**
 * Irregular English plurals, which stemming does not unite with the singular: `mice` and `mouse`. Without those that
 * are also verb forms (leaves, lives).
 */
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

/** Returns the other number of a folded word. `language` is a BCP 47 primary tag. */
export function irregularForm(term: string, language: string): string | undefined {
  return language === 'en' ? forms.get(term) : undefined;
}
