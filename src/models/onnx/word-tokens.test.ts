import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BERT_READING } from '../../../test/support/onnx-folder.js';
import { TokenReader } from './token-reader.js';
import { WordTokens } from './word-tokens.js';

const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
const WORDS = [
  'a',
  'gannet',
  'dive',
  'the',
  'sea',
  'σας',
  '海',
  "'",
  '.',
  '##s',
  '##d',
  '##net',
  'gan',
  '##e',
  '##a',
  '##ς',
  'e',
];

/** Returns a tokenizer like that of BERT models; `more` replaces members of it. */
function tokenizerOf(more: object = {}): object {
  const vocabulary = [...SPECIAL, ...WORDS];
  const id = (token: string) => vocabulary.indexOf(token);
  const piece = (name: string) => ({ SpecialToken: { id: name, type_id: 0 } });
  return {
    added_tokens: SPECIAL.map((content) => ({ id: id(content), content, special: true, normalized: false })),
    ...BERT_READING,
    post_processor: {
      type: 'TemplateProcessing',
      single: [piece('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, piece('[SEP]')],
      pair: [],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((token) => [token, { id: token, ids: [id(token)], tokens: [token] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((token, index) => [token, index])),
    },
    ...more,
  };
}

const piece = fc.oneof(
  fc.constantFrom(
    ...WORDS,
    ...SPECIAL,
    'GANNETS',
    'ΣΑΣ',
    'é',
    'e\u0301',
    '\u0301',
    '\v',
    '\t',
    '\n',
    '\u00a0',
    '\u200b',
    '\0',
    'x'.repeat(120),
  ),
  fc.string({ unit: 'grapheme' }),
);
const text = fc
  .array(fc.tuple(piece, fc.constantFrom('', ' ', '  ')), { maxLength: 12 })
  .map((all) => all.flat().join(''));

describe('tokens of single words', () => {
  it.each([{}, { lowercase: false }, { strip_accents: false }, { clean_text: false, handle_chinese_chars: false }])(
    'are those of the whole text, with %j',
    (normalizer) => {
      const known = tokenizerOf();
      const changed = tokenizerOf({ normalizer: { ...(known as { normalizer: object }).normalizer, ...normalizer } });
      const reader = new TokenReader(changed, {});
      // A sequence of this one pre-tokenizer is equivalent, but not recognized as reading each word by itself.
      const sequence = { type: 'Sequence', pretokenizers: [{ type: 'BertPreTokenizer' }] };
      const whole = new TokenReader({ ...changed, pre_tokenizer: sequence }, {});
      fc.assert(
        fc.property(text, fc.integer({ min: 3, max: 40 }), (read, tokensMax) => {
          expect(reader.read(read, tokensMax)).toEqual(whole.read(read, tokensMax));
          expect(reader.count(read)).toBe(whole.count(read));
        }),
        { numRuns: 500 },
      );
    },
  );

  it('are requested once for each word', () => {
    const asked: string[] = [];
    const words = WordTokens.of({ tokenizer: tokenizerOf(), config: {} }, (word) => [asked.push(word)]);
    expect(words?.idsOf('the sea, the sea')).toEqual([1, 2, 1, 3]);
    expect(asked).toEqual(['the', 'sea,', 'sea']);
  });

  it.each([
    ['another normalizer', { normalizer: { type: 'Lowercase' } }],
    ['spaces that are tokens', { pre_tokenizer: { type: 'Metaspace' } }],
    ['another model', { model: { type: 'BPE' } }],
    ['a token that has a space', { added_tokens: [{ id: 0, content: 'a b' }] }],
  ])('are not cached with %s', (_what, more) => {
    expect(WordTokens.of({ tokenizer: tokenizerOf(more), config: {} }, () => [])).toBeUndefined();
  });
});
