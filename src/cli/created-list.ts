/** Lists that an import creates. One into which it could put no record is deleted again, unless somebody uses it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { BulkAnswer } from './answers.js';
import type { Output } from './output.js';
import { ProblemError } from './problem.js';
import type { ServiceClient } from './service-client.js';

/** How often, and for how long, the service is given time to notice that a request has broken off. */
const TRIES_MAX = 10;
const PAUSE_MS = 50;

interface NewList {
  readonly account: string;
  readonly list: string;
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** Returns the time of creation; undefined if there was such a list already. */
export async function createListIfMissing(
  client: ServiceClient,
  { account, list, definition }: NewList,
): Promise<string | undefined> {
  try {
    const created = await client.call('list.create', { params: { account }, body: { name: list, ...definition } });
    return (created as { readonly created_utc?: string } | undefined)?.created_utc;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === 'name-exists') return undefined;
    throw error;
  }
}

/** Creates the list if it is missing, then fills it. */
export async function fillNewList<Filled extends { readonly answer: BulkAnswer }>(
  { client, output }: { readonly client: ServiceClient; readonly output: Output },
  list: NewList,
  fill: () => Promise<Filled>,
): Promise<Filled> {
  const createdUtc = await createListIfMissing(client, list);
  if (createdUtc === undefined) return fill();
  let filled: Filled | undefined;
  try {
    filled = await fill();
    return filled;
  } finally {
    const isEmpty = filled === undefined || filled.answer.created + filled.answer.updated === 0;
    if (isEmpty && (await isTakenBack(client, list, createdUtc, filled === undefined ? TRIES_MAX : 1)))
      output.note(`No record was imported, so the list ${list.list} was deleted again.\n`);
  }
}

/** Never rejects: what went wrong with the import is reported, and the list stays. */
async function isTakenBack(
  client: ServiceClient,
  { account, list }: NewList,
  createdUtc: string,
  triesMax: number,
): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      await client.call('list.delete', { params: { account, list }, query: { untouched_since: createdUtc } });
      return true;
    } catch (error) {
      const isUsed = error instanceof ProblemError && error.problem.code === 'conflict';
      if (!isUsed || tries === triesMax) return false;
    }
    await pause(PAUSE_MS);
  }
}
