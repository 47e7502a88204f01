/**
 * What is told of a list at rest, in a file of its own beside the store: a restarted service tells of thousands of lists without opening
 * any. It holds for the store as it was when the list was closed, and for no other (its print); so it need not be synced, and one that is
 * missing, older or damaged costs an opening.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'at-rest';
const FORMAT = 'gannet list at rest 1';

export interface KeptOutline {
  /** Of the store that it holds for. */
  readonly print: string;
  /** JSON. */
  readonly outline: string;
}

/** Takes the place of what was kept before. Rejects where that is not possible; then none is kept. */
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

/** Undefined where none is kept for the store with this print, or that is not known. */
export async function readOutline(listPath: string, print: string | undefined): Promise<KeptOutline | undefined> {
  if (print === undefined) return undefined;
  let text: string;
  try {
    text = await readFile(join(listPath, FILE), 'utf8');
  } catch {
    // Whoever wants to know opens the list.
    return undefined;
  }
  const headEnd = text.indexOf('\n');
  const outline = text.slice(headEnd + 1);
  return headEnd !== -1 && text.slice(0, headEnd) === headOf(print, outline) ? { print, outline } : undefined;
}

function headOf(print: string, outline: string): string {
  return `${FORMAT} ${print} ${createHash('sha256').update(outline).digest('base64url')}`;
}
