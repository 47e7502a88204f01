/** Spells queries as records write their words. Belongs to one thread. */
import type { GenerationHandle } from '../../../native-bindings/index.js';
import type { ListContext } from '../execution/list-context.js';
import { foldedQuery, withWords, type Analysis } from './query-words.js';
import { inLowerCase } from './spelling.js';
import type { WrittenForms } from './written-forms.js';

/** Words that are looked up: the last ones. */
const WORDS_MAX = 8;

/** A list, and the generation of it that is asked. */
export interface Place {
  readonly list: ListContext;
  readonly generation: GenerationHandle;
}

export class QuerySpelling {
  constructor(
    private readonly kernel: Analysis,
    private readonly forms: WrittenForms,
  ) {}

  /** As `foldedQuery`. */
  folded(text: string): string {
    return foldedQuery(this.kernel, text);
  }

  /** Returns the text with the form of each word that is written in plain letters; others, and capitals, stay. */
  spelt(text: string, place: Place): string {
    const { language } = place.list.settings;
    return withWords(this.kernel, text, ({ term, written, wordsAfter }) => {
      if (wordsAfter >= WORDS_MAX || inLowerCase(written, language) !== term) return written;
      const form = this.form(term, place);
      return form === term ? written : form;
    });
  }

  /** Returns how records write a word of the index. */
  form(term: string, { list, generation }: Place): string {
    return this.forms.of(list, generation, term);
  }
}
