/** `gannet export`: all records of a list, page by page, in a form that `gannet import` takes. */
import { createWriteStream } from 'node:fs';
import { membersOf } from '../answers.js';
import type { CommandContext } from '../command-context.js';
import { EXIT, type ExitStatus } from '../exit-codes.js';
import { csvHeading, csvRow } from '../export-csv.js';
import { formatCount, type Output } from '../output.js';
import type { ImportFormat } from '../record-counter.js';
import type { ServiceClient } from '../service-client.js';
import { WatchedStream } from '../watched-stream.js';
import type { ListResource } from './list.js';

const PAGE_RECORDS = 1000;
/** The rest is counted. */
const DAMAGED_NAMED_MAX = 20;

export interface ExportOptions {
  readonly list: string;
  readonly format: ImportFormat;
  readonly output?: string;
  readonly account?: string;
}

export interface ExportedRecord {
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A record that the service cannot read. */
interface DamagedRecord {
  readonly id: string | null;
  readonly error: string;
}

export async function exportList(context: CommandContext, options: ExportOptions): Promise<ExitStatus> {
  const account = options.account ?? context.config.account.name;
  const file = options.output === undefined ? undefined : await openFile(options.output);
  const target = file ?? context.output;
  const { count, damaged } = await context.withService((client) =>
    writeRecords(client, { account, ...options }, target),
  );
  if (file !== undefined) {
    await file.end();
    context.output.note(`${formatCount(count)} records written to ${options.output}\n`);
  }
  if (damaged.length === 0) return EXIT.done;
  for (const { id, error } of damaged.slice(0, DAMAGED_NAMED_MAX)) {
    context.output.note(`${id ?? 'a record without a readable id'}: ${error}\n`);
  }
  context.output.note(`${formatCount(damaged.length)} records are damaged on disk and were left out\n`);
  return EXIT.failed;
}

/** Where the records go, at the pace at which they are taken. */
type Target = Pick<Output, 'write' | 'settle'>;

/** Opened before the service is asked for anything, so that a path that cannot be written is told at once. */
async function openFile(path: string): Promise<WatchedStream> {
  const stream = createWriteStream(path);
  const file = new WatchedStream(stream, path);
  await new Promise<void>((resolve) => {
    stream.once('open', () => {
      resolve();
    });
    stream.once('error', () => {
      resolve();
    });
  });
  await file.settle();
  return file;
}

async function writeRecords(
  client: ServiceClient,
  { account, list, format }: { readonly account: string; readonly list: string; readonly format: ImportFormat },
  target: Target,
): Promise<{ readonly count: number; readonly damaged: readonly DamagedRecord[] }> {
  const columns = format === 'csv' ? await fieldNames(client, account, list) : [];
  await write(target, { ndjson: '', json: '[', csv: csvHeading(columns) }[format]);
  let count = 0;
  const damaged: DamagedRecord[] = [];
  for await (const records of pages(client, account, list)) {
    let text = '';
    for (const record of records) {
      if ('error' in record) {
        damaged.push(record);
        continue;
      }
      const { name, fields } = record;
      if (format === 'csv') text += csvRow({ name, fields }, columns);
      else if (format === 'ndjson') text += `${JSON.stringify({ name, fields })}\n`;
      else text += `${count === 0 ? '\n' : ',\n'}${JSON.stringify({ name, fields })}`;
      count += 1;
    }
    await write(target, text);
  }
  if (format === 'json') await write(target, '\n]\n');
  return { count, damaged };
}

/** Records in storage order, each that stays once, whatever is written or deleted meanwhile. */
async function* pages(
  client: ServiceClient,
  account: string,
  list: string,
): AsyncGenerator<readonly (ExportedRecord | DamagedRecord)[]> {
  let after: string | undefined;
  do {
    const answer = await client.call('search-result.list', {
      params: { account, list },
      query: { size: PAGE_RECORDS, ...(after === undefined ? {} : { after }) },
    });
    yield membersOf<ExportedRecord | DamagedRecord>(answer, 'results');
    after = (answer as { readonly next?: string }).next;
  } while (after !== undefined);
}

/** The columns of a CSV file: every field that the list defines. */
async function fieldNames(client: ServiceClient, account: string, list: string): Promise<string[]> {
  const resource = (await client.call('list.read', { params: { account, list } })) as ListResource & {
    readonly resources: readonly { readonly name: string }[];
    readonly location_field: string | null;
  };
  const names = [...resource.searchable_fields, ...resource.facets, ...resource.resources].map(({ name }) => name);
  if (resource.location_field !== null) names.push(resource.location_field);
  return [...new Set(names)].filter((name) => name !== 'name');
}

async function write(target: Target, text: string): Promise<void> {
  if (text === '') return;
  target.write(text);
  await target.settle();
}
