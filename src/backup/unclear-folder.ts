/** What `gannet backup WORD` may have been meant for: the folder of backups stands where its other commands do. */
import { existsSync } from 'node:fs';
import type { TypedOptions } from '../operations/index.js';

/** An account has media stores, and no folders of the machine. Undefined where it is clear. */
export function unclearAccount([folder = '']: readonly string[], { account }: TypedOptions): string | undefined {
  if (typeof account !== 'string' || folder.startsWith('media:')) return undefined;
  return `--account needs a backup in a media store (media:STORE), but '${folder}' is a folder of this machine. Leave --account out.`;
}

/**
 * A word that names no folder is rather a command that was mistyped, or that other programs have (`lst`, `ls`, `verify`): taken for a new
 * folder, it would get a copy of everything, secrets among it, wherever one is. Undefined where it is clear.
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
