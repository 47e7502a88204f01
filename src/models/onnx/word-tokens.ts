/**
 * Caches the tokens of words, for tokenizers such as BERT's that process each word separately. Nine of ten words were
 * seen before, and tokenizing a text takes several times as long as looking up its words.
 */
import { memberOf } from '../checked-answers.js';

/** Limit per tokenizer. A full cache is cleared. */
const WORDS_MAX = 20_000;
const CHARACTERS_MAX = 64;
const SPACE = ' ';

export class WordTokens {
  readonly #known = new Map<string, readonly number[]>();

  private constructor(private readonly encode: (text: string) => readonly number[]) {}

  /**
   * Returns undefined if the tokens of a text may differ from those of its words in sequence. `encode` returns tokens
   * without special tokens.
   */
  static of(
    { tokenizer, config }: { readonly tokenizer: object; readonly config: object },
    encode: (text: string) => readonly number[],
  ): WordTokens | undefined {
    const typeOf = (part: string) => memberOf(memberOf(tokenizer, part), 'type');
    const isOfWords =
      typeOf('normalizer') === 'BertNormalizer' &&
      typeOf('pre_tokenizer') === 'BertPreTokenizer' &&
      typeOf('model') === 'WordPiece';
    const isChanged =
      memberOf(config, 'remove_space') === true || memberOf(config, 'do_lowercase_and_remove_accent') === true;
    const added = memberOf(tokenizer, 'added_tokens');
    const isAlone = Array.isArray(added) && added.every((token) => !String(memberOf(token, 'content')).includes(SPACE));
    return isOfWords && !isChanged && isAlone ? new WordTokens(encode) : undefined;
  }

  idsOf(text: string): number[] {
    const ids: number[] = [];
    for (const word of text.split(SPACE)) {
      if (word === '') continue;
      for (const id of this.#idsOfWord(word)) ids.push(id);
    }
    return ids;
  }

  #idsOfWord(word: string): readonly number[] {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const ids = this.encode(word);
    if (word.length > CHARACTERS_MAX) return ids;
    if (this.#known.size >= WORDS_MAX) this.#known.clear();
    this.#known.set(word, ids);
    return ids;
  }
}
