/** Words of scripts without spaces, found by the dictionaries of Node's ICU. */

const ZERO_WIDTH_SPACE = '\u200b';

/** Not the locale of the process: an index and its queries have to agree on every machine. */
const DEFAULT_LOCALE = 'en';

/**
 * The scripts of NeedsDictionarySegmentation (kernel/analysis/analyzer.h). The ranges stand for characters that an older
 * Node.js does not know: whatever the kernel takes for these scripts has to be found here.
 */
const SCRIPTS =
  String.raw`\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc` +
  String.raw`\u{116d0}-\u{116ff}\u{1aff0}-\u{1b16f}\u{20000}-\u{3ffff}`;
const DICTIONARY_SCRIPT = new RegExp(`[${SCRIPTS}]`, 'u');
/** With the marks that stand within their words. */
const DICTIONARY_RUN = new RegExp(String.raw`[${SCRIPTS}\uff70\uff9e\uff9f\p{M}]+`, 'gu');

/**
 * ICU takes quadratic time over a long run (8 s for 100,000 characters, Node 20), so it is given pieces. What it finds
 * at the end of a piece may be half a word and goes into the next one.
 */
const PIECE_UNITS = 2048;

/** One a thread and locale: each loads its dictionaries. */
const segmenters = new Map<string, Intl.Segmenter>();
const SEGMENTERS_MAX = 16;

function segmenterFor(locale: string): Intl.Segmenter {
  let segmenter = segmenters.get(locale);
  if (segmenter === undefined) {
    if (segmenters.size >= SEGMENTERS_MAX) segmenters.clear();
    segmenter = new Intl.Segmenter(locale, { granularity: 'word' });
    segmenters.set(locale, segmenter);
  }
  return segmenter;
}

function segmentRun(run: string, segmenter: Intl.Segmenter): string {
  let result = '';
  let start = 0;
  while (start < run.length) {
    const piece = run.slice(start, start + PIECE_UNITS);
    const isLast = start + piece.length === run.length;
    let pending = '';
    let taken = 0;
    for (const { segment } of segmenter.segment(piece)) {
      if (pending !== '') {
        result += pending + ZERO_WIDTH_SPACE;
        taken += pending.length;
      }
      pending = segment;
    }
    if (isLast || taken === 0) {
      result += pending + ZERO_WIDTH_SPACE;
      taken += pending.length;
    }
    start += taken;
  }
  return result;
}

/**
 * The text with U+200B behind each word of Thai, Lao, Khmer, Myanmar, Han and kana, so that the kernel takes these
 * as words (analyzer.h); all else stays. Text without these scripts comes back as it is. Both a record and a query have
 * to go through this, with the same locale: a run of Han is cut into characters otherwise.
 */
export function segmentForKernel(text: string, locale = DEFAULT_LOCALE): string {
  if (!DICTIONARY_SCRIPT.test(text)) return text;
  const segmenter = segmenterFor(locale);
  return text.replace(DICTIONARY_RUN, (run) => (DICTIONARY_SCRIPT.test(run) ? segmentRun(run, segmenter) : run));
}
