/** Every page of the console, for tests that visit all of them. */

/**
 * Paths below the account, each with a text of the page. Requires that the list has a facet `kind` and a record with
 * 'gannet', that the group 'all' contains the list, and that the built-in store has a file 'notes/first.txt'.
 */
export const pagesOf = (list: string): readonly (readonly [path: string, text: string])[] => [
  ['', 'Drop a file here'],
  ['lists', 'Make an empty list'],
  [`list/${list}/search?query=gannet&explain=true&facets=%22kind%22`, 'Why this score?'],
  [`list/${list}/records`, 'Add a record'],
  [`list/${list}/fields`, 'Add a facet'],
  [`list/${list}/synonyms`, 'Suggest synonyms'],
  [`list/${list}/rules`, 'Add a query rule'],
  [`list/${list}/suggestions`, 'What they are learnt from'],
  [`list/${list}/analytics`, 'Most frequent searches'],
  [`list/${list}/settings`, 'Delete the list'],
  ['groups', 'Make a group'],
  ['group/all?query=gannet', 'Most frequent searches'],
  ['feeds', 'Connect a feed'],
  ['files', 'Add a media store'],
  ['files/default', 'notes/first.txt'],
  ['models', 'Add a model'],
  ['keys', 'Make a key'],
  ['webhooks', 'Add a webhook'],
  ['people', 'Invite somebody'],
  ['profile', 'Where you are signed in'],
  ['plan', 'Searches this month'],
  ['health', 'All measurements'],
  ['settings', 'search.deadline_ms'],
];
