/** Every page of the console, for tests that visit all of them. */

/**
 * Paths below the account, each with a text of the page. Requires that the list has a facet `kind` and a record with
 * 'gannet', that the group 'all' contains the list, and that the built-in store has a file 'notes/first.txt'.
 */
export const pagesOf = (list: string): readonly (readonly [path: string, text: string])[] => [
  ['', 'Drop a file here'],
  ['lists', 'Create empty list'],
  [`list/${list}/search?query=gannet&explain=true&facets=%22kind%22`, 'Why this score?'],
  [`list/${list}/records`, 'Add record'],
  [`list/${list}/fields`, 'Add facet'],
  [`list/${list}/synonyms`, 'Suggest synonyms'],
  [`list/${list}/rules`, 'Add query rule'],
  [`list/${list}/suggestions`, 'Learned suggestions'],
  [`list/${list}/analytics`, 'Top searches'],
  [`list/${list}/settings`, 'Delete list'],
  ['groups', 'Create group'],
  ['group/all?query=gannet', 'Top searches'],
  ['feeds', 'Connect feed'],
  ['files', 'Add media store'],
  ['files/default', 'notes/first.txt'],
  ['models', 'Add model'],
  ['keys', 'Create API key'],
  ['webhooks', 'Create webhook'],
  ['people', 'Invite person'],
  ['profile', 'Active sessions'],
  ['plan', 'Searches this month'],
  ['health', 'All measurements'],
  ['settings', 'search.deadline_ms'],
];
