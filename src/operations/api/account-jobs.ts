/** Jobs by account: ten thousand of them are not looked through for each of a thousand that watch. */
import type { Catalog } from '../../catalog/index.js';
import type { Job, JobOwner, ProgressBoard } from '../../platform/index.js';

/** By which jobs of lists may be seen. */
const LIST_PERMISSION = 'list:read';

interface AccountJobs {
  /** In the order in which they were begun. */
  readonly jobs: { readonly job: Job; readonly permission: string }[];
  readonly countByPermission: Map<string, number>;
}

interface Grouped {
  readonly generation: number;
  readonly accounts: Map<string, AccountJobs>;
}

const grouped = new WeakMap<ProgressBoard, Grouped>();

export interface SeenJobs {
  /** The first `most` of them, with the name that people know. */
  readonly jobs: readonly { readonly job: Job; readonly name: string }[];
  /** Of all that may be seen. */
  readonly count: number;
}

export interface JobReader {
  readonly account: string;
  can(permission: string): boolean;
  /** Which of them are meant; undefined: all. */
  readonly name?: string | undefined;
}

/** What a reader may see of the jobs that wait or run. Time: of the reader's account's jobs, and of all jobs where any came or went since the last reader. */
export function jobsSeenBy(
  board: ProgressBoard,
  catalog: Pick<Catalog, 'listOfId'>,
  reader: JobReader,
  most: number,
): SeenJobs {
  const account = groupsOf(board, catalog).get(reader.account);
  if (account === undefined) return { jobs: [], count: 0 };
  const jobs: { job: Job; name: string }[] = [];
  let named = 0;
  for (const { job, permission } of account.jobs) {
    if (reader.name === undefined && jobs.length === most) break;
    // A list may have got another name, or be gone, since its job was begun.
    const name = ownerOf(catalog, job)?.name;
    if (name === undefined || (reader.name !== undefined && name !== reader.name) || !reader.can(permission)) continue;
    named += 1;
    if (jobs.length < most) jobs.push({ job, name });
  }
  if (reader.name !== undefined || jobs.length < most) return { jobs, count: named };
  const counts = [...account.countByPermission].filter(([permission]) => reader.can(permission));
  return { jobs, count: counts.reduce((sum, [, count]) => sum + count, 0) };
}

function groupsOf(board: ProgressBoard, catalog: Pick<Catalog, 'listOfId'>): Map<string, AccountJobs> {
  const known = grouped.get(board);
  if (known?.generation === board.generation) return known.accounts;
  const accounts = new Map<string, AccountJobs>();
  let isWhole = true;
  for (const job of board.each()) {
    const owner = ownerOf(catalog, job);
    if (owner === undefined) {
      // Its list is about to be in the catalogue, or about to be gone: the next reader looks again.
      isWhole = false;
      continue;
    }
    const { account, permission } = owner;
    const group = accounts.get(account) ?? { jobs: [], countByPermission: new Map<string, number>() };
    accounts.set(account, group);
    group.jobs.push({ job, permission });
    group.countByPermission.set(permission, (group.countByPermission.get(permission) ?? 0) + 1);
  }
  if (isWhole) grouped.set(board, { generation: board.generation, accounts });
  return accounts;
}

/** Undefined for a list that is gone. */
function ownerOf(catalog: Pick<Catalog, 'listOfId'>, { owner, subject }: Job): JobOwner | undefined {
  if (owner !== undefined) return owner;
  const list = catalog.listOfId(subject);
  return list === undefined ? undefined : { account: list.account, name: list.name, permission: LIST_PERMISSION };
}
