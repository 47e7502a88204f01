/** Formats the state of the service for `gannet service state` and `gannet doctor`. */
import type { ServiceState } from '../operations/index.js';
import { formatBytes, formatCount, formatCounted, printable } from './output.js';

/** Answer of `service.state`. */
export type ToldState = ServiceState & {
  readonly uptime_seconds: number;
  readonly trouble_count: number;
  readonly databases: { readonly unreadable: readonly string[]; readonly set_aside: readonly string[] };
};

const FOLDERS_MAX = 6;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** Age at which the last backup is late: daily backups, plus some hours to make one. */
const BACKUP_DAYS_MAX = 2;

export function processText({ release, node, process_id: id, uptime_seconds: seconds }: ToldState): string {
  return `release ${release}, Node.js ${node}, process ${id}, running for ${durationText(seconds)}`;
}

export function diskText({ disk }: ToldState): string {
  if (disk === null) return 'the disk does not answer';
  const largest = disk.used.slice(0, FOLDERS_MAX).map(({ name, bytes }) => `${printable(name)} ${formatBytes(bytes)}`);
  const used = largest.length === 0 ? '' : `; the data: ${largest.join(', ')}`;
  return `${formatBytes(disk.free_bytes)} free of ${formatBytes(disk.bytes)}${used}`;
}

export function memoryText({ memory: { own_bytes: own, budget_bytes: budget } }: ToldState): string {
  const taken = own === null ? 'an unknown amount' : formatBytes(own);
  return `${taken} of ${formatBytes(budget)} (memory.mib), not counting mapped files`;
}

export function listsText({ lists }: ToldState): string {
  const rebuilding = lists.rebuilding === 0 ? '' : `, the index of ${formatCount(lists.rebuilding)} being rebuilt`;
  return `${formatCounted(lists.all, 'list')} in all accounts, ${formatCount(lists.open)} open${rebuilding}`;
}

export function waitingText({ waiting }: ToldState): string {
  const busy = waiting.filter(({ count }) => count > 0);
  return busy.length === 0 ? 'nothing' : busy.map(waitingFor).join(', ');
}

/** Services of an earlier release do not report the maximum. */
function waitingFor({ name, count, max }: ToldState['waiting'][number]): string {
  const most = typeof max === 'number' ? ` of ${formatCount(max)}` : '';
  return `${name} ${formatCount(count)}${most}`;
}

/** `isLate` is true if somebody should look into it. */
export function backupText({ backup: { last, failure } }: ToldState, nowMs: number) {
  const made =
    last === null
      ? 'none made by gannet backup'
      : `${last.finished_utc}, ${printable(last.path)}, ${formatBytes(last.bytes)}`;
  const failed = failure === null ? '' : `; the last attempt failed at ${failure.at_utc}: ${printable(failure.detail)}`;
  const isOld = last !== null && nowMs - Date.parse(last.finished_utc) > BACKUP_DAYS_MAX * DAY_SECONDS * 1000;
  return { text: `${made}${failed}`, isLate: isOld || failure !== null };
}

/** Undefined if all databases are readable and none was damaged. */
export function databasesText({ databases: { unreadable, set_aside: setAside } }: ToldState): string | undefined {
  const told = [
    ...unreadable.map((name) => `${printable(name)} cannot be read`),
    ...setAside.map((name) => `${printable(name)} was damaged and set aside`),
  ];
  return told.length === 0 ? undefined : told.join(', ');
}

/** Returns a line per problem. */
export function troubleTexts({ troubles, trouble_count: count }: ToldState): string[] {
  const told = troubles.map(({ kind, account, name, detail, since_utc: since }) => {
    const when = since === null ? '' : ` (${since})`;
    return `${kind} ${account === '' ? '' : `${account}/`}${printable(name)}: ${printable(detail)}${when}`;
  });
  return count === told.length ? told : [...told, `and ${formatCount(count - told.length)} more`];
}

function durationText(seconds: number): string {
  if (seconds < HOUR_SECONDS) return formatCounted(Math.floor(seconds / 60), 'minute');
  if (seconds < DAY_SECONDS) return formatCounted(Math.floor(seconds / HOUR_SECONDS), 'hour');
  return formatCounted(Math.floor(seconds / DAY_SECONDS), 'day');
}
