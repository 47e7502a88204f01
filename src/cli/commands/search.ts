/** `gannet search`: searches the current version of a list. */
import type { SearchResponse } from '../answers.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { openSource } from '../import-source.js';
import { searchView } from '../search-view.js';
import type { ServiceClient } from '../service-client.js';
import type { ListResource } from './list.js';

export interface SearchCommandOptions {
  readonly account?: string;
  readonly filter?: string;
  readonly match?: 'any' | 'all' | 'phrase';
  readonly orderBy?: string;
  readonly facets?: string;
  readonly radius?: string;
  readonly size: number;
  readonly skip: number;
  readonly explain?: boolean;
  /** Path of a file. */
  readonly image?: string;
  readonly json?: boolean;
}

export async function search(
  context: CommandContext,
  list: string,
  query: string,
  options: SearchCommandOptions,
): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  const response = await context.withData(async (client) => {
    const version = await currentVersion(client, account, list);
    const params = { account, list, version };
    return options.image === undefined
      ? client.call('search.list', { params, body: searchBody(query, options) })
      : searchByImage(client, params, query, { ...options, image: options.image });
  });
  if (options.json === true) writeJson(context.output, response);
  else {
    const view = searchView(context.output, response as SearchResponse, {
      firstPosition: options.skip + 1,
      scores: query !== '' || options.image !== undefined,
      isByPicture: options.image !== undefined,
    });
    context.output.write(view);
  }
  return EXIT.done;
}

async function searchByImage(
  client: ServiceClient,
  params: Readonly<Record<string, string>>,
  words: string,
  {
    image,
    filter,
    orderBy,
    facets,
    radius,
    size,
    skip,
    explain,
    match,
  }: SearchCommandOptions & { readonly image: string },
): Promise<unknown> {
  if (words !== '' || match !== undefined)
    throw new CommandError('--image searches by the picture alone. Leave out the words and --match.', EXIT.usage);
  const { stream, bytes } = await openSource(image);
  const given = { filter, order_by: orderBy, facets, radius, size, skip, explain };
  const query = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined),
  );
  // The service detects the actual format from the bytes.
  const sent = { contentType: 'image/jpeg', ...(bytes === undefined ? {} : { streamBytes: bytes }) };
  return client.call('search.image', { params, query, stream, ...sent });
}

export async function currentVersion(client: ServiceClient, account: string, list: string): Promise<string> {
  const resource = (await client.call('list.read', { params: { account, list } })) as ListResource;
  return String(resource.current_version);
}

function searchBody(query: string, options: SearchCommandOptions): Record<string, unknown> {
  const { filter, match, orderBy, facets, radius, size, skip, explain } = options;
  return {
    query,
    size,
    skip,
    ...(filter === undefined ? {} : { filter }),
    ...(match === undefined ? {} : { match }),
    ...(orderBy === undefined ? {} : { order_by: orderBy }),
    ...(facets === undefined ? {} : { facets: facets.split(',').map((name) => name.trim()) }),
    ...(radius === undefined ? {} : { radius }),
    ...(explain === undefined ? {} : { explain }),
  };
}
