/**
 * Turns Markdown and plain text into a page: headings, links and paragraphs become HTML, which `page-reader.ts` reads
 * like any other page.
 */

const LINE_CHARACTERS_MAX = 20_000;
const TITLE_CHARACTERS_MAX = 300;
const LINK_CHARACTERS_MAX = 500;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(?:```|~~~)/;

/** Returns the HTML. Never fails: whatever is not Markdown is treated as text. */
export function markdownAsHtml(markdown: string): string {
  const body: string[] = [];
  const slugs = new Map<string, number>();
  let title: string | undefined;
  let isCode = false;
  for (const whole of markdown.split(/\r\n|\r|\n/)) {
    const line = whole.slice(0, LINE_CHARACTERS_MAX);
    if (FENCE.test(line)) {
      isCode = !isCode;
      continue;
    }
    const [, marks = '', text = ''] = isCode ? [] : (HEADING.exec(line) ?? []);
    if (marks !== '') {
      const bare = plain(withoutClosingMarks(text));
      title ??= bare;
      body.push(`<h${marks.length} id="${slugOf(bare, slugs)}">${escaped(bare)}</h${marks.length}>`);
    } else if (line.trim() === '') body.push('</p><p>');
    else body.push(isCode ? escaped(line) : withLinks(line));
  }
  const head = `<title>${escaped((title ?? '').slice(0, TITLE_CHARACTERS_MAX))}</title>`;
  return `<!DOCTYPE html><html><head>${head}</head><body><main><p>${body.join('\n')}</p></main></body></html>`;
}

/** Turns `[text](address)` into links. The time this takes grows only with the length of the line. */
function withLinks(line: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let middle = line.indexOf(']('); middle !== -1; middle = line.indexOf('](', middle + 2)) {
    const end = line.indexOf(')', middle);
    if (end === -1) break;
    const first = Math.max(from, middle - LINK_CHARACTERS_MAX);
    const place = line.slice(first, middle).lastIndexOf('[');
    if (place === -1) continue;
    const begin = first + place;
    const [address = ''] = line
      .slice(middle + 2, end)
      .trim()
      .split(/\s/, 1);
    pieces.push(escaped(line.slice(from, begin)));
    pieces.push(`<a href="${escaped(address)}">${escaped(line.slice(begin + 1, middle))}</a>`);
    from = end + 1;
  }
  return pieces.join('') + escaped(line.slice(from));
}

/**
 * Returns a heading without the ` ##` at its end. Searches from the end, because a regular expression would be tried at
 * each blank of the line.
 */
function withoutClosingMarks(text: string): string {
  const bare = text.trimEnd();
  let end = bare.length;
  while (bare[end - 1] === '#') end -= 1;
  const isClosed = end < bare.length && (bare[end - 1] === ' ' || bare[end - 1] === '\t');
  return isClosed ? bare.slice(0, end) : text;
}

/** Removes the marks of code and emphasis. */
function plain(text: string): string {
  return text.replaceAll(/[`*]/g, '').trim();
}

/** Makes the anchor of a heading as code hosting sites do. */
function slugOf(heading: string, met: Map<string, number>): string {
  const slug = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
  const count = met.get(slug) ?? 0;
  met.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
