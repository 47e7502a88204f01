/** Segments the words of scripts without spaces, using the dictionaries of Node's ICU. */

const ZERO_WIDTH_SPACE = '\u200b';

/** Independent of the process's locale: an index and its queries must agree on every machine. */
const DEFAULT_LOCALE = 'en';

/**
 * The scripts of NeedsDictionarySegmentation (kernel/analysis/analyzer.h). The ranges stand for characters that an
 * older Node.js does not know: everything that the kernel counts among these scripts must be found here.
 */
const SCRIPTS =
  String.raw`\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc` +
  String.raw`\u{116d0}-\u{116ff}\u{1aff0}-\u{1b16f}\u{20000}-\u{3ffff}`;
const DICTIONARY_SCRIPT = new RegExp(`[${SCRIPTS}]`, 'u');
/** A run of these scripts, with the marks that occur within their words. */
const DICTIONARY_RUN = new RegExp(String.raw`[${SCRIPTS}\uff70\uff9e\uff9f\p{M}]+`, 'gu');

/**
 * Maximum number of UTF-16 units per call of ICU, which takes quadratic time over a long run (8 s for 100,000
 * characters, Node 20). The last word of a piece may be incomplete and goes into the next piece.
 */
const PIECE_UNITS = 2048;

/** One segmenter per thread and locale, because each loads its dictionaries. */
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
 * Returns the text with U+200B after each word of Thai, Lao, Khmer, Myanmar, Han and kana, so that the kernel takes
 * these as words (analyzer.h); everything else is unchanged. A text without these scripts is returned as it is. Records
 * and queries must both be segmented, with the same locale: otherwise a run of Han is cut into characters.
 */
export function segmentForKernel(text: string, locale = DEFAULT_LOCALE): string {
  if (!DICTIONARY_SCRIPT.test(text)) return text;
  const segmenter = segmenterFor(locale);
  return text.replace(DICTIONARY_RUN, (run) => (DICTIONARY_SCRIPT.test(run) ? segmentRun(run, segmenter) : run));
}
