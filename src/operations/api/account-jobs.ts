/** Index of jobs by account, so that not each of a thousand watchers searches ten thousand jobs. */
import type { Catalog } from '../../catalog/index.js';
import type { Job, JobOwner, ProgressBoard } from '../../platform/index.js';

/** Permission to see jobs of lists. */
const LIST_PERMISSION = 'list:read';

interface AccountJob {
  readonly job: Job;
  readonly permission: string;
}

interface AccountJobs {
  /** In the order in which they began. */
  readonly jobs: AccountJob[];
  /**
   * The same jobs by list id, and by the name of what else they work on, so that watching one of ten thousand takes no
   * search.
   */
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
  /** The first `most` jobs, with the names that people know. */
  readonly jobs: readonly { readonly job: Job; readonly name: string }[];
  /** Number of all visible jobs. */
  readonly count: number;
}

export interface JobReader {
  readonly account: string;
  can(permission: string): boolean;
  /** Restricts the jobs by name. Undefined for all. */
  readonly name?: string | undefined;
}

/**
 * Returns the waiting and running jobs that a reader may see. Takes time proportional to the account's jobs, and to all
 * jobs if any began or ended since the last call.
 */
export function jobsSeenBy(board: ProgressBoard, catalog: JobCatalog, reader: JobReader, most: number): SeenJobs {
  const account = groupsOf(board, catalog).get(reader.account);
  if (account === undefined) return { jobs: [], count: 0 };
  if (reader.name !== undefined) return jobsNamed(account, catalog, { ...reader, name: reader.name }, most);
  const jobs: { job: Job; name: string }[] = [];
  for (const { job, permission } of account.jobs) {
    if (jobs.length === most) break;
    // The list may have been renamed or deleted since its job began.
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
      // The list is just being created or deleted, so the next reader rebuilds the index.
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

/** Undefined for a job of a deleted list. */
function ownerOf(catalog: JobCatalog, { owner, subject }: Job): JobOwner | undefined {
  if (owner !== undefined) return owner;
  const list = catalog.listOfId(subject);
  return list === undefined ? undefined : { account: list.account, name: list.name, permission: LIST_PERMISSION };
}
