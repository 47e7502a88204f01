/** Jobs by account: ten thousand of them are not looked through for each of a thousand that watch. */
import type { Catalog } from '../../catalog/index.js';
import type { Job, JobOwner, ProgressBoard } from '../../platform/index.js';

/** By which jobs of lists may be seen. */
const LIST_PERMISSION = 'list:read';

interface AccountJob {
  readonly job: Job;
  readonly permission: string;
}

interface AccountJobs {
  /** In the order in which they were begun. */
  readonly jobs: AccountJob[];
  /** The same by the ids of lists, and by the names of what else they work on: who watches one of ten thousand costs no look at all. */
  readonly byList: Map<string, AccountJob[]>;
  readonly byName: Map<string, AccountJob[]>;
  readonly countByPermission: Map<string, number>;
}

type JobCatalog = Pick<Catalog, 'list' | 'listOfId'>;

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
export function jobsSeenBy(board: ProgressBoard, catalog: JobCatalog, reader: JobReader, most: number): SeenJobs {
  const account = groupsOf(board, catalog).get(reader.account);
  if (account === undefined) return { jobs: [], count: 0 };
  if (reader.name !== undefined) return jobsNamed(account, catalog, { ...reader, name: reader.name }, most);
  const jobs: { job: Job; name: string }[] = [];
  for (const { job, permission } of account.jobs) {
    if (jobs.length === most) break;
    // A list may have got another name, or be gone, since its job was begun.
    const name = ownerOf(catalog, job)?.name;
    if (name !== undefined && reader.can(permission)) jobs.push({ job, name });
  }
  if (jobs.length < most) return { jobs, count: jobs.length };
  const counts = [...account.countByPermission].filter(([permission]) => reader.can(permission));
  return { jobs, count: counts.reduce((sum, [, count]) => sum + count, 0) };
}

function jobsNamed(
  { byList, byName }: AccountJobs,
  catalog: JobCatalog,
  reader: JobReader & { readonly name: string },
  most: number,
): SeenJobs {
  const { account, name } = reader;
  const id = catalog.list(account, name)?.id;
  const all = [...((id === undefined ? undefined : byList.get(id)) ?? []), ...(byName.get(name) ?? [])];
  const seen = all.filter(({ permission }) => reader.can(permission));
  return { jobs: seen.slice(0, most).map(({ job }) => ({ job, name })), count: seen.length };
}

function groupsOf(board: ProgressBoard, catalog: JobCatalog): Map<string, AccountJobs> {
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
    const group = accounts.get(account) ?? {
      jobs: [],
      byList: new Map<string, AccountJob[]>(),
      byName: new Map<string, AccountJob[]>(),
      countByPermission: new Map<string, number>(),
    };
    accounts.set(account, group);
    const entry = { job, permission };
    group.jobs.push(entry);
    const [named, by] = job.owner === undefined ? [group.byList, job.subject] : [group.byName, job.owner.name];
    const others = named.get(by);
    if (others === undefined) named.set(by, [entry]);
    else others.push(entry);
    group.countByPermission.set(permission, (group.countByPermission.get(permission) ?? 0) + 1);
  }
  if (isWhole) grouped.set(board, { generation: board.generation, accounts });
  return accounts;
}

/** Undefined for a list that is gone. */
function ownerOf(catalog: JobCatalog, { owner, subject }: Job): JobOwner | undefined {
  if (owner !== undefined) return owner;
  const list = catalog.listOfId(subject);
  return list === undefined ? undefined : { account: list.account, name: list.name, permission: LIST_PERMISSION };
}
