/** What `gannet backup WORD` may have been meant for: the folder of backups stands where its other commands do. */
import { existsSync } from 'node:fs';

/**
 * A word that names no folder is rather a command that was mistyped, or that other programs have (`lst`, `ls`, `verify`): taken for a new
 * folder, it would get a copy of everything, secrets among it, wherever one is. Undefined where it is clear.
 */
export function unclearFolder([folder = '']: readonly string[]): string | undefined {
  if (folder === '' || folder.includes('/') || folder.startsWith('media:') || /^\.+$/u.test(folder)) return undefined;
  if (existsSync(folder)) return undefined;
  return (
    `There is neither a folder nor a command '${folder}'. To make this folder here and back up into it: gannet backup ./${folder}. ` +
    'The commands are gannet backup list FOLDER and gannet backup check FOLDER.'
  );
}
