import type { CommandText } from '../operations/index.js';
import type { CheckedBackups } from './checked-backups.js';
import type { ListedBackups } from './listed-backups.js';
import type { MadeBackup } from './make-backup.js';

/** Returns the output of `gannet backup`. */
export function backupText(answer: unknown, { counted, bytes }: CommandText): string {
  const made = answer as MadeBackup;
  const shared = made.bytes_shared === 0 ? '' : `, ${bytes(made.bytes_shared)} of it shared with what was there`;
  const lines = [
    `${made.path}: ${counted(made.lists, 'list')}, ${bytes(made.bytes)}${shared}`,
    ...made.damaged.map((name) => `Damaged, and copied as it is: ${name}`),
    ...made.removed.map((path) => `Removed: ${path}`),
    `\`gannet restore ${made.path}\` brings it back.`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the output of `gannet backup check`. */
export function checkedText(answer: unknown, { table, count, counted, bytes }: CommandText): string {
  const { backups, bytes_read: read } = answer as CheckedBackups;
  const rows = backups.map((each) => [
    each.path,
    each.made_utc ?? '',
    bytes(each.bytes),
    each.problem_count === 0 ? 'whole' : counted(each.problem_count, 'problem'),
  ]);
  const problems = backups.flatMap(({ path, problems: of, problem_count: all }) => [
    ...of.map((problem) => `${path}: ${problem}`),
    ...(all > of.length ? [`${path}: and ${count(all - of.length)} more`] : []),
  ]);
  const compared = read === 0 ? [] : [`${bytes(read)} were read and compared.`];
  return `${table([['Backup', 'Made', 'Size', 'State'], ...rows])}${[...problems, ...compared].map((line) => `${line}\n`).join('')}`;
}

/** True if `gannet backup check` is to exit with status 1, for scripts that run it regularly. */
export function isAnyDamaged(answer: unknown): boolean {
  return (answer as CheckedBackups).backups.some(({ problem_count: count }) => count > 0);
}

/** Returns the output of `gannet backup list`. */
export function backupsText(answer: unknown, { table, count, bytes }: CommandText): string {
  const { backups, unreadable } = answer as ListedBackups;
  const rows = backups.map((each) => [each.path, each.made_utc, count(each.lists), bytes(each.bytes), each.data_dir]);
  const listed = rows.length === 0 ? 'There is none.\n' : table([['Backup', 'Made', 'Lists', 'Size', 'Of'], ...rows]);
  return listed + unreadable.map((path) => `Cannot be read by this release: ${path}\n`).join('');
}
