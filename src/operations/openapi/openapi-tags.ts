/** The `tags` of the OpenAPI document: areas of the API, with their descriptions. */

/** Keyed by the first part of an operation's name. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  account: 'Accounts share the machine and nothing else.',
  analytics: 'What was searched for, found and clicked, by list and group.',
  'api-key': 'Keys of programs: where they reach, what they may do, until when.',
  agent: 'Operations as tools for agents, by the Model Context Protocol.',
  backup: 'Copies of the whole data directory, and whether they can be restored.',
  contributor: 'People who work on an account, and their roles.',
  event: 'What receivers of webhooks get.',
  facet: 'The fields of a list that are filtered, counted and sorted by.',
  feed: 'Outside sources whose records are kept current on a schedule.',
  list: 'Lists of records: their fields, settings and versions.',
  'list-group': 'Groups, which search several lists as one.',
  media: 'Files of media stores.',
  'media-store': 'Where files are kept: the built-in store, folders and buckets.',
  model: 'Models that embed, rerank, write and transcribe.',
  openapi: 'This document.',
  plan: 'Plans, their limits, and how much of them is used.',
  progress: 'How far jobs are that run in the background.',
  related: 'Records that are like a record.',
  resource: 'The fields of a list that link to documents, pictures, video and audio.',
  search: 'Search by words, meaning and pictures, of lists and groups.',
  'search-result': 'Records: read, written, deleted, imported and exported.',
  'searchable-field': 'The fields of a list whose words are searched.',
  secret: 'The key by which secrets are sealed on disk.',
  service: 'What the running service goes by and offers.',
  session: 'Sign-in of people, and their sessions.',
  suggest: 'Completions of what somebody is typing.',
  synonym: 'Rules by which a query also finds other words.',
  system: 'Whether the service works, is ready, and its figures.',
  webhook: 'Subscriptions to events, and their deliveries.',
};

/**
 * Returns the tags of these names, sorted. Unknown names have no description; a test checks that the API has none of
 * those.
 */
export function describeTags(names: Iterable<string>): { readonly name: string; readonly description?: string }[] {
  return [...new Set(names)].sort().map((name) => {
    const description = DESCRIPTIONS[name];
    return { name, ...(description === undefined ? {} : { description }) };
  });
}
