/** Finds what somebody wanted who typed words after `gannet list`, which takes none. */

/** Words that may be repeated in an example, since they look like names of lists. */
const LIST_NAME = /^[a-z0-9_-]{1,64}$/u;

interface Wish {
  /** First words of the sentence with the command. */
  readonly to: string;
  readonly command: (name: string) => string;
}

const SHOW: Wish = { to: 'see one list in full', command: (name) => `gannet call list.read --param list=${name}` };
const DELETE: Wish = { to: 'delete a list', command: (name) => `gannet call list.delete --param list=${name}` };
const CREATE: Wish = { to: 'create a list', command: (name) => `gannet import FILE --list ${name} --create` };
const COPY: Wish = {
  to: 'copy a list',
  command: (name) => `gannet call list.clone --param list=${name} --param name=COPY`,
};
const EDIT: Wish = { to: 'edit a list', command: (name) => `gannet call list.update --param list=${name} --body JSON` };
const REBUILD: Wish = { to: 'rebuild the index of a list', command: (name) => `gannet reindex --list ${name}` };
const SEARCH: Wish = { to: 'search a list', command: (name) => `gannet search ${name} WORDS` };
const IMPORT: Wish = { to: 'import records', command: (name) => `gannet import FILE --list ${name}` };
const EXPORT: Wish = { to: 'export the records of a list', command: (name) => `gannet export --list ${name}` };

/** What to do with a list, by the words for it that other programs have, too. */
const WISHES: ReadonlyMap<string, Wish> = new Map(
  (
    [
      [SHOW, 'show read get info describe view inspect'],
      [DELETE, 'delete remove rm drop destroy'],
      [CREATE, 'create add new make'],
      [COPY, 'copy clone cp duplicate'],
      [EDIT, 'edit update change set rename'],
      [REBUILD, 'reindex rebuild'],
      [SEARCH, 'search find query'],
      [IMPORT, 'import load'],
      [EXPORT, 'export dump'],
    ] as const
  ).flatMap(([wish, words]) => words.split(' ').map((word) => [word, wish] as const)),
);

/** Commands that list other things than lists. */
const LISTINGS: Readonly<Record<string, string>> = {
  accounts: 'gannet account list',
  backups: 'gannet backup list FOLDER',
  contributors: 'gannet contributor list',
  feeds: 'gannet feed list',
  files: 'gannet media list',
  groups: 'gannet call list-group.list',
  keys: 'gannet key list',
  models: 'gannet model list',
  people: 'gannet contributor list',
  webhooks: 'gannet webhook list',
};

/** Returns the sentences that refuse the words and name the command that was probably meant. */
export function refusedListWords(words: readonly string[]): string {
  return `gannet list takes no arguments: it shows all lists. ${meantBy(words)}.`;
}

function meantBy(words: readonly string[]): string {
  const [first = '', second] = words;
  const listing = Object.hasOwn(LISTINGS, first) ? LISTINGS[first] : undefined;
  if (second === undefined && listing !== undefined) return `To list ${first}, run ${listing}`;
  // `list show birds`, and `list birds show`. A word alone may be the name of a list that is called so.
  const verb = [first, second].find((word) => word !== undefined && WISHES.has(word));
  const { to, command } = WISHES.get(verb ?? '') ?? SHOW;
  const name = words.find((word) => word !== verb);
  return `To ${to}, run ${command(name !== undefined && LIST_NAME.test(name) ? name : 'NAME')}`;
}
