/**
 * Outline of a list at rest, in a file beside its store: after a restart the service can report on thousands of lists
 * without opening any. It is valid only for the store as it was when the list was closed (its fingerprint). So it need
 * not be synced, and a missing, outdated or damaged one only costs opening the list.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'at-rest';
const FORMAT = 'gannet list at rest 1';

export interface KeptOutline {
  /** Fingerprint of the store for which the outline is valid. */
  readonly print: string;
  /** The outline as JSON. */
  readonly outline: string;
}

/** Replaces the outline that was kept before. Rejects if it cannot be written; then none is kept. */
export async function keepOutline(listPath: string, { print, outline }: KeptOutline): Promise<void> {
  const path = join(listPath, FILE);
  try {
    await writeFile(`${path}.new`, `${headOf(print, outline)}\n${outline}`);
    await rename(`${path}.new`, path);
  } catch (error) {
    await Promise.all([path, `${path}.new`].map((each) => rm(each, { force: true })));
    throw error;
  }
}

/** Undefined if no outline is kept for the store with this fingerprint, or `print` is undefined. */
export async function readOutline(listPath: string, print: string | undefined): Promise<KeptOutline | undefined> {
  if (print === undefined) return undefined;
  let text: string;
  try {
    text = await readFile(join(listPath, FILE), 'utf8');
  } catch {
    // Whoever needs the outline opens the list.
    return undefined;
  }
  const headEnd = text.indexOf('\n');
  const outline = text.slice(headEnd + 1);
  return headEnd !== -1 && text.slice(0, headEnd) === headOf(print, outline) ? { print, outline } : undefined;
}

function headOf(print: string, outline: string): string {
  return `${FORMAT} ${print} ${createHash('sha256').update(outline).digest('base64url')}`;
}
