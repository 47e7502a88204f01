/** `gannet media put|get|list|delete` and `gannet media-store list|add|delete`. */
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { mediaUrl } from '../../fields/index.js';
import { STORE_MEMBERS, storeKind, type StoreKind } from '../../media/store-kinds.js';
import { membersOf } from '../answers.js';
import { readListing } from '../listing.js';
import { writeJson, type CommandContext } from '../command-context.js';
import { CommandError, EXIT, type ExitStatus } from '../exit-codes.js';
import { noTextFile, openSource } from '../import-source.js';
import { formatBytes, printable, table } from '../output.js';
import { ByteProgress } from '../byte-progress.js';
import { saveWhole } from '../saved-file.js';
import { readSecrets } from '../secret-input.js';

export interface MediaStoreOptions {
  readonly account?: string;
  readonly json?: boolean;
}

export interface MediaOptions extends MediaStoreOptions {
  readonly store: string;
}

export interface MediaPutOptions extends MediaOptions {
  readonly contentType?: string;
}

export interface MediaGetOptions extends MediaOptions {
  readonly output?: string;
}

export interface MediaListOptions extends MediaOptions {
  readonly prefix?: string;
  readonly after?: string;
  readonly size: number;
}

export interface MediaStoreAddOptions extends MediaStoreOptions {
  readonly kind: StoreKind;
  /** Settings by option name, in camel case. */
  readonly [option: string]: unknown;
}

interface FileResource {
  readonly path: string;
  readonly bytes: number;
  readonly content_type: string;
  readonly modified_utc: string;
}

interface StoreResource {
  readonly name: string;
  readonly kind: string;
  readonly bytes_used: number | null;
  readonly bytes_max: number | null;
  readonly file_count: number | null;
}

const PAGE_FILES_MAX = 1000;

interface PutTarget {
  readonly file: string;
  readonly path: string | undefined;
}

export async function putFile(
  context: CommandContext,
  { file, path }: PutTarget,
  options: MediaPutOptions,
): Promise<ExitStatus> {
  if (file === '-' && path === undefined)
    throw new CommandError('A file from standard input needs a path in the store.', EXIT.usage);
  const source = await openSource(file);
  const target = path ?? basename(file);
  const progress = new ByteProgress(context.output, `Uploading ${printable(target)}`, options.json !== true);
  const answer = (await context.withService((client) =>
    client.call('media.upload', {
      params: { ...paramsOf(context, options), path: target },
      stream: progress.watching(source.stream, source.bytes),
      ...(source.bytes === undefined ? {} : { streamBytes: source.bytes }),
      ...(options.contentType === undefined ? {} : { contentType: options.contentType }),
    }),
  )) as FileResource;
  const what = options.contentType === undefined && isText(answer) ? noTextFile(file) : undefined;
  if (what !== undefined)
    context.output.note(
      `${printable(file)} is ${what}, but its name makes it ${answer.content_type}. Use another name, or set the type with --content-type.\n`,
    );
  return show(
    context,
    options,
    answer,
    // URL as records link to it.
    () => `${mediaUrl(options.store, printable(answer.path))}: ${formatBytes(answer.bytes)}, ${answer.content_type}\n`,
  );
}

const isText = ({ content_type: type }: FileResource) => /^(?:text\/|application\/json)/.test(type);

/** Writes a file, which appears under its name when it is complete. */
export async function getFile(context: CommandContext, path: string, options: MediaGetOptions): Promise<ExitStatus> {
  const { output } = options;
  await context.withData(async (client) => {
    const { pieces } = await client.download('media.read', { params: { ...paramsOf(context, options), path } });
    if (output === undefined) {
      await pipeline(pieces, process.stdout, { end: false });
      return;
    }
    try {
      await saveWhole(pieces, output);
    } catch (error) {
      throw new CommandError(`${output} was not written: ${(error as Error).message}`);
    }
  });
  if (output !== undefined) context.output.note(`${printable(path)} written to ${output}\n`);
  return EXIT.done;
}

export async function listFiles(context: CommandContext, options: MediaListOptions): Promise<ExitStatus> {
  const files: FileResource[] = [];
  await context.withData(async (client) => {
    for (let after = options.after; files.length < options.size;) {
      const query = {
        size: Math.min(PAGE_FILES_MAX, options.size - files.length),
        ...(options.prefix === undefined ? {} : { prefix: options.prefix }),
        ...(after === undefined ? {} : { after }),
      };
      const answer = await client.call('media.list', { params: paramsOf(context, options), query });
      files.push(...membersOf<FileResource>(answer, 'files'));
      after = (answer as { readonly next?: string }).next;
      if (after === undefined) return;
    }
  });
  return show(context, options, { files }, () => {
    if (files.length === 0)
      return `There are no such files in the media store ${options.store}. Upload one with gannet media put.\n`;
    const rows = files.map((file) => [
      printable(file.path),
      formatBytes(file.bytes),
      printable(file.content_type),
      file.modified_utc,
    ]);
    return table([['PATH', 'SIZE', 'TYPE', 'MODIFIED'], ...rows]);
  });
}

export async function deleteFile(context: CommandContext, path: string, options: MediaOptions): Promise<ExitStatus> {
  await context.withData((client) => client.call('media.delete', { params: { ...paramsOf(context, options), path } }));
  return show(context, options, { path, deleted: true }, () => `Deleted ${printable(path)}.\n`);
}

export async function listStores(context: CommandContext, options: MediaStoreOptions): Promise<ExitStatus> {
  const account = accountOf(context, options);
  const answer = await context.withData((client) => readListing(client, 'media-store.list', { account }));
  return show(context, options, answer, () => {
    const rows = membersOf<StoreResource>(answer, 'media_stores').map((store) => [
      store.name,
      store.kind,
      store.file_count === null ? '' : String(store.file_count),
      store.bytes_used === null ? '' : formatBytes(store.bytes_used),
      store.bytes_max === null ? '' : formatBytes(store.bytes_max),
    ]);
    return table([['NAME', 'KIND', 'FILES', 'USED', 'LIMIT'], ...rows]);
  });
}

export async function addStore(
  context: CommandContext,
  name: string,
  options: MediaStoreAddOptions,
): Promise<ExitStatus> {
  const { kind } = options;
  const { secret, needed } = storeKind(kind);
  const given = Object.keys(STORE_MEMBERS)
    .map((member) => [member, options[camelCase(member)]] as const)
    .filter(([, value]) => value !== undefined);
  // Checked before a secret is typed in vain.
  const missing = needed.filter((member) => member !== secret && !given.some(([name]) => name === member));
  if (missing.length > 0) throw new CommandError(`--kind ${kind} needs ${inWords(missing)}.`, EXIT.usage);
  const secrets = await readSecrets(secret === undefined ? [] : [secret], context.output, context.input);
  const members = Object.fromEntries([...given, ...secrets]);
  const answer = await context.withService((client) =>
    client.call('media-store.create', {
      params: { account: accountOf(context, options) },
      body: { name, kind, ...members },
    }),
  );
  return show(
    context,
    options,
    answer,
    () => `Added the media store ${name}. gannet media list --store ${name} shows its files.\n`,
  );
}

export async function deleteStore(
  context: CommandContext,
  store: string,
  options: MediaStoreOptions,
): Promise<ExitStatus> {
  const params = { account: accountOf(context, options), store };
  await context.withData((client) => client.call('media-store.delete', { params }));
  return show(
    context,
    options,
    { name: store, deleted: true },
    () => `Removed the media store ${store}. Its files stay where they are.\n`,
  );
}

function inWords(members: readonly string[]): string {
  const options = members.map((member) => `--${member.replaceAll('_', '-')}`);
  return options.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

/** Returns the name of a member's option in camel case. */
function camelCase(member: string): string {
  return member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function accountOf(context: CommandContext, options: MediaStoreOptions): string {
  return options.account ?? context.config.account.name;
}

function paramsOf(
  context: CommandContext,
  options: MediaOptions,
): { readonly account: string; readonly store: string } {
  return { account: accountOf(context, options), store: options.store };
}

function show(context: CommandContext, { json }: MediaStoreOptions, answer: unknown, text: () => string): ExitStatus {
  if (json === true) writeJson(context.output, answer);
  else context.output.write(text());
  return EXIT.done;
}
