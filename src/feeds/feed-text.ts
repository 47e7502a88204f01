/** Feeds as text that the command line prints for people. */
import type { AnswerPrinter, CommandText, JobFollower } from '../operations/index.js';

interface ShownFeed {
  readonly name: string;
  readonly provider: string;
  readonly status: string;
  readonly record_count: number;
  readonly last_checked: string | null;
  readonly error: { readonly message: string } | null;
  readonly searchable_in: readonly string[];
  readonly last_run: {
    readonly added: number;
    readonly changed: number;
    readonly removed: number;
    readonly skipped: readonly { readonly what: string; readonly why: string }[];
  } | null;
}

interface ShownDiscovery {
  readonly pages: readonly {
    readonly url: string;
    readonly title: string;
    readonly depth: number;
    readonly found: string;
  }[];
  readonly left_out: readonly { readonly url: string; readonly why: string }[];
  readonly complete: boolean;
}

const HEADING = ['NAME', 'PROVIDER', 'STATUS', 'RECORDS', 'LAST CHECKED', 'SEARCHABLE IN'];

function row(feed: ShownFeed, { count }: CommandText): string[] {
  const { name, provider, status, error, record_count, last_checked, searchable_in } = feed;
  const told = error === null ? status : `${status}: ${error.message}`;
  return [name, provider, told, count(record_count), last_checked ?? '', searchable_in.join(', ')];
}

export const feedsText: AnswerPrinter = (answer, text) => {
  const { feeds } = answer as { readonly feeds: readonly ShownFeed[] };
  return text.table([HEADING, ...feeds.map((feed) => row(feed, text))]);
};

export const feedText: AnswerPrinter = (answer, text) => {
  const feed = answer as ShownFeed;
  const { last_run: run } = feed;
  const skipped = run?.skipped.map(({ what, why }) => `  ${what}: ${why}\n`).join('') ?? '';
  const last =
    run === null
      ? ''
      : `Last sync: ${text.count(run.added)} added, ${text.count(run.changed)} changed, ${text.count(run.removed)} removed\n${skipped}`;
  const isUnderWay = feed.status === 'Syncing' || feed.status === 'Waiting for first sync';
  return `${text.table([HEADING, row(feed, text)])}${last}${isUnderWay ? 'How far a sync is: gannet progress\n' : ''}`;
};

/** How the command line follows a run that `feed sync` began. */
export const syncFollower: JobFollower = {
  kind: 'feed-sync',
  nameOf: (begun) => (begun as ShownFeed).name,
  operation: 'feed.read',
  isOver: (begun, now) => {
    const { status, last_checked: checked } = now as Partial<ShownFeed>;
    if (status === undefined) return true;
    return status !== 'Syncing' && checked !== (begun as ShownFeed).last_checked;
  },
  hasFailed: (now) => (now as Partial<ShownFeed>).status === 'Failed',
};

export const discoveryText: AnswerPrinter = (answer, { table }) => {
  const { pages, left_out: leftOut, complete } = answer as ShownDiscovery;
  const rows = pages.map(({ url, title, depth, found }) => [url, title, String(depth), found]);
  const left = leftOut.map(({ url, why }) => `  ${url}: ${why}\n`).join('');
  const end = complete ? '' : 'There may be more: the preview ends here, or something could not be read.\n';
  return `${table([['URL', 'TITLE', 'DEPTH', 'FOUND BY'], ...rows])}${left === '' ? '' : `Left out:\n${left}`}${end}`;
};
