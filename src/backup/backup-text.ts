import type { CommandText } from '../operations/index.js';
import type { ListedBackups } from './listed-backups.js';
import type { MadeBackup } from './make-backup.js';

/** What `gannet backup` says at the end. */
export function backupText(answer: unknown, { count, bytes }: CommandText): string {
  const made = answer as MadeBackup;
  const shared = made.bytes_shared === 0 ? '' : `, ${bytes(made.bytes_shared)} of it shared with what was there`;
  const lines = [
    `${made.path}: ${count(made.lists)} lists, ${bytes(made.bytes)}${shared}`,
    ...made.damaged.map((name) => `Damaged, and copied as it is: ${name}`),
    ...made.removed.map((path) => `Removed: ${path}`),
    `\`gannet restore ${made.path}\` brings it back.`,
  ];
  return `${lines.join('\n')}\n`;
}

/** What `gannet backup list` says. */
export function backupsText(answer: unknown, { table, count, bytes }: CommandText): string {
  const { backups, unreadable } = answer as ListedBackups;
  const rows = backups.map((each) => [each.path, each.made_utc, count(each.lists), bytes(each.bytes), each.data_dir]);
  const listed = rows.length === 0 ? 'There is none.\n' : table([['Backup', 'Made', 'Lists', 'Size', 'Of'], ...rows]);
  return listed + unreadable.map((path) => `Cannot be read by this release: ${path}\n`).join('');
}
