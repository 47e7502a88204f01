/** `gannet search`: one search of a list's current version. */
import type { SearchResponse } from '../answers.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
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
  readonly json?: boolean;
}

export async function search(
  context: CommandContext,
  list: string,
  query: string,
  options: SearchCommandOptions,
): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  const response = await context.withService(async (client) => {
    const version = await currentVersion(client, account, list);
    return client.call('search.list', { params: { account, list, version }, body: searchBody(query, options) });
  });
  if (options.json === true) writeJson(context.output, response);
  else {
    const view = searchView(context.output, response as SearchResponse, {
      firstPosition: options.skip + 1,
      scores: query !== '',
    });
    context.output.write(view);
  }
  return EXIT.done;
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
