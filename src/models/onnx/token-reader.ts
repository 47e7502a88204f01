/** Converts texts into token ids by the `tokenizer.json` of a model's folder. */
import { Tokenizer } from '@huggingface/tokenizers';
import { memberOf } from '../checked-answers.js';
import { OnnxError } from './onnx-protocol.js';
import { WordTokens } from './word-tokens.js';

/** The package's encoder. Its own declarations name files that a module cannot resolve. */
interface Encoder {
  encode(
    text: string,
    options?: { text_pair?: string; add_special_tokens?: boolean; return_token_type_ids?: boolean },
  ): { readonly ids: number[]; readonly token_type_ids?: number[] };
}
const EncoderOfFile = Tokenizer as unknown as new (tokenizer: object, config: object) => Encoder;

export interface Tokens {
  readonly ids: readonly number[];
  /** 0 for tokens of a first text, 1 for those of a second. */
  readonly types: readonly number[];
}

const PROBE = 'a';
/** Share of a pair's tokens that the first text may take at most. */
const FIRST_SHARE_MAX = 1 / 2;

export class TokenReader {
  readonly #tokenizer: Encoder;
  /** Length and token for padding, if the tokenizer requires it; most models do not. */
  readonly #filling: { readonly length: number; readonly id: number } | undefined;
  /** Special tokens before and after the tokens of any text. */
  readonly #before: readonly number[];
  readonly #behind: readonly number[];
  /** Undefined if the tokenizer does not process each word separately. */
  readonly #words: WordTokens | undefined;

  /** Throws an OnnxError if the files are of an unknown tokenizer. */
  constructor(tokenizer: object, config: object) {
    try {
      this.#filling = fillingOf(tokenizer);
      // Truncation and padding are done here, not by the tokenizer.
      this.#tokenizer = new EncoderOfFile({ ...tokenizer, truncation: null, padding: null }, config);
      const empty = this.#tokenizer.encode('').ids;
      const { ids } = this.#tokenizer.encode(PROBE);
      const first = empty.findIndex((id, index) => id !== ids[index]);
      const before = first === -1 ? empty.length : first;
      this.#before = empty.slice(0, before);
      this.#behind = empty.slice(before);
      const isAround = this.#around(this.#inside(PROBE)).join() === ids.join();
      if (isAround) this.#words = WordTokens.of({ tokenizer, config }, (text) => this.#inside(text));
    } catch (error) {
      throw new OnnxError('folder', `The file tokenizer.json cannot be used: ${(error as Error).message}.`, error);
    }
  }

  /** Returns the number of tokens of the text, without special tokens. */
  count(text: string): number {
    return this.#idsOf(text).length;
  }

  /** Number of special tokens around a text. */
  get around(): number {
    return this.#before.length + this.#behind.length;
  }

  /** Returns at most `tokensMax` tokens, including special tokens. Longer texts are truncated. */
  read(text: string, tokensMax: number): Tokens {
    const ids = this.#words === undefined ? this.#tokenizer.encode(text).ids : this.#around(this.#words.idsOf(text));
    const kept = ids.length <= tokensMax ? ids : [...ids.slice(0, tokensMax - this.#behind.length), ...this.#behind];
    return { ids: kept, types: new Array<number>(kept.length).fill(0) };
  }

  #around(ids: readonly number[]): number[] {
    return [...this.#before, ...ids, ...this.#behind];
  }

  #idsOf(text: string): number[] {
    return this.#words?.idsOf(text) ?? this.#inside(text);
  }

  /** Returns tokens without special tokens. */
  #inside(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** Pads to the length with which the model was trained, if it was trained with texts of one length. */
  filledUp({ ids, types }: Tokens): Tokens {
    const missing = this.#filling === undefined ? 0 : this.#filling.length - ids.length;
    if (this.#filling === undefined || missing <= 0) return { ids, types };
    const filling = new Array<number>(missing);
    return {
      ids: [...ids, ...filling.fill(this.#filling.id)],
      types: [...types, ...new Array<number>(missing).fill(0)],
    };
  }

  /**
   * Returns both texts as one of at most `tokensMax` tokens. The second text is truncated first; the first gets at most
   * half of the tokens.
   */
  readPair(first: string, second: string, tokensMax: number): Tokens {
    const kept = this.#cutToTokens(first, Math.floor(tokensMax * FIRST_SHARE_MAX));
    const whole = this.#pair(kept, second);
    if (whole.ids.length <= tokensMax) return whole;
    const room = this.count(second) - (whole.ids.length - tokensMax);
    const cut = this.#pair(kept, this.#cutToTokens(second, Math.max(0, room)));
    // A truncated text may have one token more than its part of the whole had.
    if (cut.ids.length <= tokensMax) return cut;
    const end = tokensMax - 1;
    return { ids: [...cut.ids.slice(0, end), cut.ids.at(-1) as number], types: cut.types.slice(0, tokensMax) };
  }

  #pair(first: string, second: string): Tokens {
    const { ids, token_type_ids: types } = this.#tokenizer.encode(first, {
      text_pair: second,
      return_token_type_ids: true,
    });
    return { ids, types: types ?? ids.map(() => 0) };
  }

  /**
   * Returns the longest prefix with at most so many tokens, by binary search, since tokens do not tell their position
   * in the text.
   */
  #cutToTokens(text: string, tokensMax: number): string {
    if (this.count(text) <= tokensMax) return text;
    let [fits, tooLong] = [0, text.length];
    while (tooLong - fits > 1) {
      const middle = (fits + tooLong) >> 1;
      if (this.count(text.slice(0, middle)) <= tokensMax) fits = middle;
      else tooLong = middle;
    }
    return text.slice(0, fits);
  }
}

function fillingOf(tokenizer: object): { readonly length: number; readonly id: number } | undefined {
  const padding = memberOf(tokenizer, 'padding');
  const length = memberOf(memberOf(padding, 'strategy'), 'Fixed');
  const id = memberOf(padding, 'pad_id');
  return Number.isSafeInteger(length) && Number.isSafeInteger(id)
    ? { length: length as number, id: id as number }
    : undefined;
}
