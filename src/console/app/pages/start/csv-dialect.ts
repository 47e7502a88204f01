/** Spreadsheets write CSV as their country does: cells by semicolons or tabs, letters in an encoding of their own. The service reads commas and UTF-8. */

/** Of the beginning of the file, by which it is known how it was written. */
const HEAD_BYTES = 65_536;

const SEPARATORS = [',', ';', '\t'] as const;
type Separator = (typeof SEPARATORS)[number];

/** Translates a file chunk by chunk; `end` gives what was kept back for the next one. */
export interface Translation {
  read(chunk: Uint8Array): Uint8Array<ArrayBuffer>;
  end(): Uint8Array<ArrayBuffer>;
}

/** Undefined for a file that the service reads as it is. */
export async function translationOf(file: Blob): Promise<Translation | undefined> {
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const encoding = encodingOf(head);
  const separator = separatorOf(new TextDecoder(encoding).decode(head));
  if (encoding === 'utf-8' && separator === ',') return undefined;
  const decoder = new TextDecoder(encoding);
  const encoder = new TextEncoder();
  const cells = new CommaCells(separator);
  return {
    read: (chunk) => encoder.encode(cells.read(decoder.decode(chunk, { stream: true }))),
    end: () => encoder.encode(cells.read(decoder.decode()) + cells.end()),
  };
}

/** What is no UTF-8 is taken for what Windows writes in western Europe: where each letter is one byte, nothing tells of which alphabet it is. */
function encodingOf(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  try {
    // Of a letter that the head ends within, the rest is still to come.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

/** The one that the first row has most of; a comma where it has none. */
function separatorOf(head: string): Separator {
  const counts = new Map<string, number>();
  let isQuoted = false;
  for (const letter of head) {
    if (letter === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (letter === '\n') break;
    counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  const countOf = (separator: Separator): number => counts.get(separator) ?? 0;
  return SEPARATORS.reduce((most, each) => (countOf(each) > countOf(most) ? each : most));
}

/** Writes each cell behind another separator, and quotes around those that hold a comma. */
class CommaCells {
  readonly #separator: Separator;
  #cell = '';
  #isQuoted = false;

  constructor(separator: Separator) {
    this.#separator = separator;
  }

  read(text: string): string {
    let whole = '';
    for (const letter of text) {
      if (letter === '"') this.#isQuoted = !this.#isQuoted;
      const isEnd = !this.#isQuoted && (letter === this.#separator || letter === '\n');
      if (isEnd) whole += `${this.end()}${letter === '\n' ? '\n' : ','}`;
      else this.#cell += letter;
    }
    return whole;
  }

  /** The cell that was begun. */
  end(): string {
    const [, cell = '', lineEnd = ''] = /^(.*?)(\r?)$/s.exec(this.#cell) ?? [];
    this.#cell = '';
    return (cell.includes(',') && !cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell) + lineEnd;
  }
}
