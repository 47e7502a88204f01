/** Formats the answer of a search for a terminal. */
import type { SearchHit, SearchResponse } from './answers.js';
import { explanationLines } from './explanation-view.js';
import { formatCount, formatRecords, type Output, printable, shorten, styled } from './output.js';

const FACET_VALUES_SHOWN = 8;
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

export interface ViewOptions {
  /** Fields shown of a hit, in order. Undefined for highlights, or else the first fields. */
  readonly fields?: readonly string[];
  readonly firstPosition?: number;
  /** False for searches without words, whose scores mean nothing. Default true. */
  readonly scores?: boolean;
  /** True for a search by a picture. */
  readonly isByPicture?: boolean;
  /** Milliseconds from sending the request to having read the answer. */
  readonly roundTripMs?: number;
}

export function searchView(output: Output, response: SearchResponse, options: ViewOptions = {}): string {
  const lines = response.results.flatMap((hit, index) =>
    hitLines(output, hit, (options.firstPosition ?? 1) + index, options),
  );
  for (const [facet, values] of Object.entries(response.facets ?? {})) {
    const shown = values
      .slice(0, FACET_VALUES_SHOWN)
      .map(({ value, count }) => `${printable(String(value))} ${styled(output, 'dim', formatCount(count))}`);
    lines.push(`  ${styled(output, 'dim', `${facet}:`)} ${shown.join(' · ')}`);
  }
  const roundTrip = options.roundTripMs === undefined ? '' : `, ${options.roundTripMs.toFixed(1)} ms round trip`;
  const count = formatRecords(response.total_count);
  lines.push(styled(output, 'dim', `  ${count} in ${response.took_ms} ms${roundTrip}${modelsTold(response, options)}`));
  return `${lines.join('\n')}\n`;
}

/** Describes how models took part, if the list has any. */
function modelsTold({ applied = {} }: SearchResponse, { isByPicture = false }: ViewOptions): string {
  const { meaning = 'none', reranker = null } = applied;
  const used = isByPicture ? 'by what pictures look like' : 'by words and meaning';
  const told = meaning === 'used' ? used : meaning === 'unavailable' ? 'by words only: the model is unavailable' : '';
  const order = reranker?.reordered === true ? `reordered by ${printable(reranker.name)}` : '';
  return [told, order]
    .filter((part) => part !== '')
    .map((part) => `, ${part}`)
    .join('');
}

function hitLines(output: Output, hit: SearchHit, position: number, options: ViewOptions): string[] {
  const marks = [];
  if (hit.distance !== undefined) marks.push(`${(hit.distance / 1000).toFixed(1)} km`);
  if ((hit.distinct_count ?? 1) > 1) marks.push(`${hit.distinct_count} records`);
  const score = strongest(hit);
  if (options.scores !== false && score !== undefined) marks.push(score.toFixed(3));
  const head = `${String(position).padStart(3)}  ${styled(output, 'bold', printable(hit.name))}`;
  const lines = [`${head}  ${styled(output, 'dim', marks.join('  '))}`.trimEnd()];
  // In full, however long, since it says what to do.
  if (hit.error !== undefined) lines.push(`     ${styled(output, 'red', printable(hit.error))}`);
  const width = Math.max(40, output.columns - 8);
  for (const [field, text] of shownFields(hit, options.fields)) {
    const room = width - field.length;
    lines.push(`     ${styled(output, 'dim', `${field}:`)} ${emphasise(output, shortenMarked(text, room))}`);
  }
  for (const { place, highlight } of placesInFiles(hit)) {
    const passage = shortenMarked(oneLine(highlight), width - place.length);
    lines.push(`     ${styled(output, 'dim', place)} ${emphasise(output, passage)}`.trimEnd());
  }
  const explained = hit.explain === undefined ? [] : explanationLines(hit.explain);
  lines.push(...explained.map((line) => `     ${styled(output, 'dim', shorten(line, output.columns - 5))}`));
  return lines;
}

/** Returns the page and the second by which the record was found. */
function placesInFiles({ document, media }: SearchHit): { readonly place: string; readonly highlight: string }[] {
  const places = [];
  if (document !== undefined) {
    const { field, page, page_count: pages, highlight } = document;
    places.push({ place: `${printable(field)}, page ${page} of ${formatCount(pages)}:`, highlight });
  }
  if (media !== undefined) {
    const { field, seconds, highlight = '' } = media;
    places.push({ place: `${printable(field)}, at ${clockTime(seconds)}:`, highlight });
  }
  return places;
}

/** `1:02:03`, or `2:03` within the first hour. */
function clockTime(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / HOUR_SECONDS), Math.floor(whole / MINUTE_SECONDS) % MINUTE_SECONDS];
  const padded = (value: number) => String(value).padStart(2, '0');
  const behind = padded(whole % MINUTE_SECONDS);
  return hours > 0 ? `${hours}:${padded(minutes)}:${behind}` : `${minutes}:${behind}`;
}

/** Returns the highest score, which decided the order. Undefined if there is none. */
function strongest(hit: SearchHit): number | undefined {
  const kinds = ['text', 'image', 'document', 'video', 'audio'] as const;
  const scores = kinds.map((kind) => hit[`@${kind}_score`]).filter((score) => score !== undefined);
  return scores.length === 0 ? undefined : Math.max(...scores);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ');
}

const FIELDS_SHOWN_MAX = 3;
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

function shownFields(hit: SearchHit, wanted: readonly string[] | undefined): [string, string][] {
  const highlights = hit.highlights ?? {};
  const names =
    wanted ?? (Object.keys(highlights).length > 0 ? Object.keys(highlights) : Object.keys(hit.fields ?? {}));
  return (
    names
      // Already shown in the line of the page.
      .filter((name) => wanted !== undefined || (name !== hit.document?.field && name !== hit.media?.field))
      .map((name): [string, string] => [name, highlights[name] ?? escapeHtml(valueText(hit.fields?.[name]))])
      .filter(([, text]) => text !== '')
      .slice(0, wanted?.length ?? FIELDS_SHOWN_MAX)
  );
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (typeof value === 'number') return Number.isInteger(value) ? formatCount(value) : String(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Truncates a text with `<em>` tags without cutting a tag or an entity. */
function shortenMarked(text: string, width: number): string {
  const pieces = text.split(/(<\/?em>)/);
  let room = width;
  let result = '';
  for (const piece of pieces) {
    if (piece.startsWith('<')) result += room > 0 ? piece : '';
    else if (room > 0) {
      const plain = shorten(unescape(piece), room);
      room -= [...plain].length;
      result += escapeHtml(plain);
    }
  }
  const open = result.split('<em>').length - result.split('</em>').length;
  return open > 0 ? `${result}</em>` : result;
}

function unescape(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** Converts `<em>` to bold on a terminal, and to *stars* elsewhere. */
function emphasise(output: Output, text: string): string {
  return text
    .split(/<em>(.*?)<\/em>/s)
    .map((piece, index) => {
      const plain = printable(unescape(piece));
      if (index % 2 === 0) return plain;
      return output.isTerminal ? styled(output, 'yellow', styled(output, 'bold', plain)) : `*${plain}*`;
    })
    .join('');
}
