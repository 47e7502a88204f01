/** The `tags` of the OpenAPI document: areas of the API, with their descriptions. */

/** Keyed by the first part of an operation's name. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  account: 'Accounts of this service. Data of one account is not visible to another.',
  analytics: 'Reports on searches, zero-result searches and clicks, by list and group; recording of clicks.',
  'api-key': 'API keys: their scope, permissions and expiry.',
  agent: 'The operations as tools for agents, over the Model Context Protocol (MCP).',
  backup: 'Backups of the whole data directory: making, listing and checking them.',
  contributor: 'People who work on an account, and their roles.',
  event: 'Messages that the service sends to webhooks.',
  facet: 'Facets: fields of a list to filter, count and sort by.',
  feed: 'Feeds: outside sources that are synced on a schedule.',
  list: 'Lists of records, with their fields, settings and versions.',
  'list-group': 'Groups: several lists that are searched as one.',
  media: 'Files in media stores.',
  'media-store': 'Media stores: places that hold files. They are the built-in store, folders and S3 buckets.',
  model: 'Models for embeddings, reranking, chat and transcription.',
  openapi: 'This OpenAPI document.',
  plan: 'Plans with their limits, and what an account uses.',
  progress: 'Progress of background jobs.',
  related: 'Records similar to a given record.',
  resource: 'Resource fields: fields of a list that hold URLs of documents, pictures, video and audio.',
  search: 'Search of lists and groups, by words, meaning and pictures.',
  'search-result': 'Records: reading, writing, deleting, importing and exporting them.',
  'searchable-field': 'Searchable fields: fields of a list whose text is searched.',
  secret: 'Encryption of secrets on disk.',
  service: 'Settings and state of the running service.',
  session: 'Sign-in of people to the console, and their sessions.',
  suggest: 'Search suggestions as a person types.',
  synonym: 'Synonym rules, which make a query also find other words.',
  system: 'Health, readiness and metrics of the service.',
  webhook: 'Webhooks: subscriptions to events, and their deliveries.',
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
