/** `gannet key create|list|delete`. */
import { membersOf } from '../answers.js';
import { readListing } from '../listing.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { printable, table } from '../output.js';

export interface KeyCreateOptions {
  readonly account?: string;
  readonly name: string;
  readonly access?: 'search-and-read' | 'read-all' | 'full' | 'custom';
  readonly scope: 'account' | 'list' | 'group';
  readonly scopeTarget?: string;
  readonly permissions?: string;
  readonly expires?: string;
  readonly region?: string;
  readonly json?: boolean;
}

interface KeyResource {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly scope_target: string | null;
  readonly region: string;
  readonly permissions: readonly string[];
  readonly expires_at: string | null;
  readonly last_four?: string;
  readonly last_used_utc?: string | null;
  readonly use_known_since_utc?: string;
}

interface NewKeyAnswer extends KeyResource {
  readonly key: string;
}

export async function createKey(context: CommandContext, options: KeyCreateOptions): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  const body = newKeyBody(options);
  await context.withService(async (client) => {
    const answer = (await client.call('api-key.create', { params: { account }, body })) as NewKeyAnswer;
    try {
      if (options.json === true) writeJson(context.output, answer);
      else context.output.write(`${answer.key}\n`);
      await context.output.settle();
    } catch (error) {
      // A key that nobody has seen would still be valid.
      await client.call('api-key.delete', { params: { account, id: answer.id } });
      const { message } = error as Error;
      throw new CommandError(`${message} The new key was not shown, so it was deleted.`);
    }
    if (options.json !== true)
      context.output.note(`Copy the key now: it is not shown again. ${describeReach(answer)}\n`);
  });
  return EXIT.done;
}

/** Checks combinations of options; the service checks each value. */
function newKeyBody(options: KeyCreateOptions): Record<string, unknown> {
  const { access, permissions } = options;
  if (permissions !== undefined && access !== undefined && access !== 'custom') {
    throw new CommandError(`--permissions needs --access custom, not --access ${access}.`, EXIT.usage);
  }
  if (access === 'custom' && permissions === undefined) {
    throw new CommandError('--access custom needs --permissions.', EXIT.usage);
  }
  if (options.scope !== 'account' && options.scopeTarget === undefined) {
    throw new CommandError(
      `--scope ${options.scope} needs --scope-target, the name of the ${options.scope}.`,
      EXIT.usage,
    );
  }
  if (options.scope === 'account' && options.scopeTarget !== undefined) {
    throw new CommandError('--scope-target needs --scope list or --scope group.', EXIT.usage);
  }
  return {
    name: options.name,
    scope: options.scope,
    ...(options.scopeTarget === undefined ? {} : { scope_target: options.scopeTarget }),
    ...(permissions === undefined
      ? { access: access ?? 'search-and-read' }
      : { access: 'custom', permissions: splitList(permissions) }),
    ...(options.expires === undefined ? {} : { expires_at: options.expires }),
    ...(options.region === undefined ? {} : { region: options.region }),
  };
}

/** Returns the items of a comma-separated list. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function describeReach(key: KeyResource): string {
  const reach = key.scope === 'account' ? 'the whole account' : `the ${key.scope} ${key.scope_target}`;
  const may = key.permissions.length === 0 ? 'everything' : key.permissions.join(', ');
  return `It gives access to ${reach}, with ${may}, and works ${key.expires_at === null ? 'until it is deleted' : `until ${key.expires_at}`}.`;
}

interface AccountAndJson {
  readonly account?: string;
  readonly json?: boolean;
}

export async function listKeys(context: CommandContext, options: AccountAndJson): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  const answer = await context.withData((client) => readListing(client, 'api-key.list', { account }));
  if (options.json === true) {
    writeJson(context.output, answer);
    return EXIT.done;
  }
  const keys = membersOf<KeyResource>(answer, 'keys');
  if (keys.length === 0) {
    context.output.write(`The account ${account} has no API keys. Create one with gannet key create.\n`);
    return EXIT.done;
  }
  const rows = keys.map((key) => [
    key.id,
    printable(key.name),
    `${key.region}…${key.last_four ?? ''}`,
    key.scope_target === null ? key.scope : `${key.scope} ${key.scope_target}`,
    key.permissions.length === 0 ? 'everything' : key.permissions.join(','),
    key.expires_at ?? 'never',
    lastUse(key),
  ]);
  context.output.write(table([['ID', 'NAME', 'KEY', 'SCOPE', 'PERMISSIONS', 'EXPIRES', 'LAST USED (UTC)'], ...rows]));
  return EXIT.done;
}

/** Returns the last use to the hour, as precisely as it is known. Services of an earlier release do not report it. */
function lastUse({ last_used_utc: used, use_known_since_utc: since }: KeyResource): string {
  if (typeof used === 'string') return inHours(used);
  return since === undefined ? '' : `not since ${inHours(since)}`;
}

/** `2026-11-27 19h`. */
function inHours(utc: string): string {
  return `${utc.slice(0, 13).replace('T', ' ')}h`;
}

/** Deletes a key by id, or by name if only one key has it. */
export async function deleteKey(
  context: CommandContext,
  idOrName: string,
  options: AccountAndJson,
): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  const id = await context.withData(async (client) => {
    const keys = membersOf<KeyResource>(await readListing(client, 'api-key.list', { account }), 'keys');
    const byName = keys.filter((key) => key.name === idOrName);
    const known = keys.some((key) => key.id === idOrName);
    if (!known && byName.length > 1) {
      throw new CommandError(
        `${byName.length} keys are named ${idOrName}. Use the id of the one to delete; gannet key list shows it.`,
      );
    }
    const found = known ? idOrName : (byName[0]?.id ?? idOrName);
    await client.call('api-key.delete', { params: { account, id: found } });
    return found;
  });
  if (options.json === true) writeJson(context.output, { id, deleted: true });
  else context.output.write(`Deleted the key ${id}. It no longer works.\n`);
  return EXIT.done;
}
