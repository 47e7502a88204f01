import type { CommandText } from '../operations/index.js';
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
