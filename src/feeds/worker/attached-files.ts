/**
 * Files that belong to records of a feed. The worker puts them into the feed's folder, from where they are moved into
 * its media store.
 */
import { createHash } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mediaUrl } from '../../fields/index.js';
import { makeLastFolderNow } from '../../platform/index.js';
import type { AttachedFile } from '../email/message-reader.js';

export const ATTACHED_FOLDER = 'attached';
const HASH_CHARACTERS = 32;

/** Returns the folder for the files of a feed within its media store. */
export function attachedPrefix(feed: string): string {
  return `feeds/${feed}/`;
}

/**
 * Returns a function that keeps a file. Files are named by their content, so that the same file in two messages is kept
 * once.
 */
export function keepAttached(
  folder: string,
  at: { readonly feed: string; readonly mediaStore: string },
): (file: AttachedFile) => string {
  const attached = join(folder, ATTACHED_FOLDER);
  return ({ ending, content }) => {
    const name = `${createHash('sha256').update(content).digest('hex').slice(0, HASH_CHARACTERS)}.${ending}`;
    const path = join(attached, name);
    if (!existsSync(path)) {
      makeLastFolderNow(attached);
      writeFileSync(`${path}.part`, content, { mode: 0o600 });
      renameSync(`${path}.part`, path);
    }
    return mediaUrl(at.mediaStore, `${attachedPrefix(at.feed)}${name}`);
  };
}
