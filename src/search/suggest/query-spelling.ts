/** Spells queries as records write their words. Belongs to one thread. */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { ListContext } from '../execution/list-context.js';
import { inLowerCase } from './spelling.js';
import type { WrittenForms } from './written-forms.js';

/** Words that are looked up: the last ones. */
const WORDS_MAX = 8;
/** Mark after each word that a dictionary found (native-bindings/segmentation.ts). */
const CUT = '\u200b';
const NOT_ASCII = /\P{ASCII}/u;

/** A list, and the generation of it that is asked. */
export interface Place {
  readonly list: ListContext;
  readonly generation: GenerationHandle;
}

export class QuerySpelling {
  constructor(
    private readonly kernel: Pick<Kernel, 'analyse'>,
    private readonly forms: WrittenForms,
  ) {}

  /** Returns the text in lower case, with the words as an index has them: two queries of the same are one. */
  folded(text: string): string {
    if (!NOT_ASCII.test(text)) return text.toLowerCase();
    return this.withWords(text, ({ term }) => term).toLowerCase();
  }

  /** Returns the text with the form of each word that is written in plain letters; others, and capitals, stay. */
  spelt(text: string, place: Place): string {
    const { language } = place.list.settings;
    return this.withWords(text, ({ term, written, wordsAfter }) => {
      if (wordsAfter >= WORDS_MAX || inLowerCase(written, language) !== term) return written;
      const form = this.form(term, place);
      return form === term ? written : form;
    });
  }

  /** Returns how records write a word of the index. */
  form(term: string, { list, generation }: Place): string {
    return this.forms.of(list, generation, term);
  }

  private withWords(
    text: string,
    write: (word: { readonly term: string; readonly written: string; readonly wordsAfter: number }) => string,
  ): string {
    const segmented = segmentForKernel(text);
    let result = '';
    let from = 0;
    const tokens = this.kernel.analyse(segmented);
    for (const [index, { term, begin, end }] of tokens.entries()) {
      const written = segmented.slice(begin, end);
      result += segmented.slice(from, begin) + write({ term, written, wordsAfter: tokens.length - 1 - index });
      from = end;
    }
    return (result + segmented.slice(from)).replaceAll(CUT, '');
  }
}
