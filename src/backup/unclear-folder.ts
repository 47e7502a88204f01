/** Recognizes mistakes in `gannet backup WORD`: the folder of backups is typed where subcommands are. */
import { existsSync } from 'node:fs';
import type { TypedOptions } from '../operations/index.js';

/**
 * Returns an error if `--account` is given for a folder of the machine, since accounts only matter for media stores.
 * Undefined if the call is clear.
 */
export function unclearAccount([folder = '']: readonly string[], { account }: TypedOptions): string | undefined {
  if (typeof account !== 'string' || folder.startsWith('media:')) return undefined;
  return `--account needs a backup in a media store (media:STORE), but '${folder}' is a folder of this machine. Leave --account out.`;
}

/**
 * Returns an error for a word that is not an existing folder: it is more likely a mistyped command, or one of other
 * programs (`lst`, `ls`, `verify`). Taken as a new folder, it would get a copy of all data, including secrets, in the
 * working directory. Undefined if the call is clear.
 */
export function unclearFolder(values: readonly string[], options: TypedOptions): string | undefined {
  const [folder = ''] = values;
  if (folder === '' || folder.includes('/') || folder.startsWith('media:') || /^\.+$/u.test(folder))
    return unclearAccount(values, options);
  if (existsSync(folder)) return unclearAccount(values, options);
  return (
    `There is neither a folder nor a command '${folder}'. To make this folder here and back up into it: gannet backup ./${folder}. ` +
    'The commands are gannet backup list FOLDER and gannet backup check FOLDER.'
  );
}
