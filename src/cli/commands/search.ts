/** `gannet search`: searches the current version of a list. */
import type { SearchResponse } from '../answers.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { openSource } from '../import-source.js';
import { givenOptions, type SearchCommandOptions } from '../search-command-options.js';
import { searchView } from '../search-view.js';
import type { ServiceClient } from '../service-client.js';
import type { ListResource } from './list.js';

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
      ? client.call('search.list', { params, body: { query, ...givenOptions(options) } })
      : searchByImage(client, params, query, { ...options, image: options.image });
  });
  if (options.json === true) writeJson(context.output, response);
  else {
    const view = searchView(context.output, response as SearchResponse, {
      firstPosition: Number(options['skip'] ?? 0) + 1,
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
  options: SearchCommandOptions & { readonly image: string },
): Promise<unknown> {
  if (words !== '' || options['match'] !== undefined)
    throw new CommandError('--image searches by the picture alone. Leave out the words and --match.', EXIT.usage);
  const { stream, bytes } = await openSource(options.image);
  const given = Object.entries(givenOptions(options));
  const query = Object.fromEntries(
    given.map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? value : String(value),
    ]),
  );
  // The service detects the actual format from the bytes.
  const sent = { contentType: 'image/jpeg', ...(bytes === undefined ? {} : { streamBytes: bytes }) };
  return client.call('search.image', { params, query, stream, ...sent });
}

export async function currentVersion(client: ServiceClient, account: string, list: string): Promise<string> {
  const resource = (await client.call('list.read', { params: { account, list } })) as ListResource;
  return String(resource.current_version);
}
