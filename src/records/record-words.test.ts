import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PackedList, storedRecord } from '../../test/support/packed-list.js';
import { decodeRecord, encodeRecord, storedIdOf } from './record-codec.js';
import { DamagedRecordError } from './record-parts.js';
import { isPacked } from './record-words.js';
import type { StoredRecord } from './types.js';

const FIELDS = [
  { text: 'The sentence says that the words of the list are those of the others', tags: ['one', 'two'] },
  { text: 'Zdanie mówi, że słowa listy są słowami innych zdań, i żadne nie jest krótsze', tags: ['trzy'] },
  { text: 'この文は、リストの言葉が他の文の言葉であると述べています', tags: ['四'] },
  { text: 'Это предложение говорит, что слова списка те же, что и у других', tags: [] },
  { text: 'تقول هذه الجملة إن كلمات القائمة هي كلمات الجمل الأخرى', tags: ['خمسة'] },
  { text: 'ประโยคนี้บอกว่าคำในรายการเป็นคำของประโยคอื่น 👩‍👩‍👧 and 🏳️‍🌈', tags: ['หก'] },
];
/**
 * Unusual JSON and UTF-8: halves of surrogate pairs, zeros, quotes, and a word that is longer than any in a
 * dictionary.
 */
const ODD = { text: `\ud800 \udfff \0 "\\" \u2028 ${'x'.repeat(5000)} 👩‍👩‍👧 <b>\n` };

function textRecord(number: number): StoredRecord {
  const fields = FIELDS[number % FIELDS.length] ?? {};
  return storedRecord(number, { ...fields, number, again: fields });
}

const RECORDS = Array.from({ length: 3000 }, (_, number) =>
  number % 100 === 99 ? storedRecord(number, ODD) : textRecord(number),
);
const SHORT = RECORDS.map(encodeRecord);
const FIRST_ID = RECORDS[0]?.id;

/** Returns a dictionary and the records packed with it. */
function packed() {
  const { bytes, learned } = new PackedList().pack(RECORDS);
  if (learned === undefined) throw new Error('nothing was learned');
  return { bytes, words: learned.words };
}

/** Returns a list with this dictionary. */
const listOf = (words: Uint8Array) => new PackedList(new Map([[1, words]]));
/** Compares all bytes at once, because the test runner would compare each byte. */
const expectSame = (left: readonly Uint8Array[], right: readonly Uint8Array[]) => {
  expect(left.map(({ length }) => length)).toEqual(right.map(({ length }) => length));
  expect(Buffer.concat(left).equals(Buffer.concat(right))).toBe(true);
};
const lengthOf = (records: readonly Uint8Array[]) => records.reduce((sum, { length }) => sum + length, 0);

describe('packed records', () => {
  it('unpack to what they were, in every script, and are smaller', () => {
    const { bytes, words } = packed();
    const list = listOf(words);
    expect(lengthOf(bytes)).toBeLessThan(lengthOf(SHORT) / 2);
    for (const [index, each] of bytes.entries()) expect(list.unpacked(each).equals(SHORT[index] ?? each)).toBe(true);
    // A store that has the words learns no others, and packs to the same bytes.
    const again = list.pack(RECORDS);
    expect(again.learned).toBeUndefined();
    expect(Buffer.concat(again.bytes).equals(Buffer.concat(bytes))).toBe(true);
  });

  it('unpack to what they were for any fields', () => {
    const list = listOf(packed().words);
    const any = fc.dictionary(
      fc.string({ unit: 'binary' }),
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...FIELDS)),
    );
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 5 }), (fields) => {
        const records = Array.from({ length: 100 }, (_, number) => storedRecord(number, fields[number] ?? {}));
        const { bytes } = list.pack(records);
        for (const [index, each] of bytes.entries()) {
          const short = encodeRecord(records[index] ?? storedRecord(0, {}));
          expect(each.length).toBeLessThanOrEqual(short.length);
          expect(list.unpacked(each).equals(short)).toBe(true);
        }
      }),
    );
  });

  it('are records or reported as damaged, whatever byte of them is changed', () => {
    const { bytes, words } = packed();
    const list = listOf(words);
    for (const of of [bytes[0], bytes[2], bytes[99]].flatMap((each) => each ?? [])) {
      expect(isPacked(of)).toBe(true);
      let told = 0;
      for (let at = 0; at < of.length * 256; at += at < 64 * 256 ? 1 : 37) {
        const damaged = Buffer.from(of);
        damaged[at >> 8] = at & 0xff;
        const read = list.unpacked(damaged);
        try {
          decodeRecord(read);
        } catch (error) {
          expect(error).toBeInstanceOf(DamagedRecordError);
          storedIdOf(read);
          told += 1;
        }
      }
      expect(told).toBeGreaterThan(of.length);
      for (let length = 0; length < of.length; length += 1)
        expect(() => decodeRecord(list.unpacked(of.subarray(0, length)))).toThrow(DamagedRecordError);
    }
  });
});

describe('a dictionary of words', () => {
  it('that is damaged, truncated or empty makes every record damaged', () => {
    const { bytes, words } = packed();
    const first = bytes[0] ?? Buffer.alloc(0);
    const changed = Array.from(words, (byte, at) => Buffer.from(words).fill(byte ^ (1 << (at % 8)), at, at + 1));
    for (const damaged of [...changed, words.subarray(0, -1), words.subarray(0, 5), Buffer.alloc(0)]) {
      const read = listOf(damaged).unpacked(first);
      expect(() => decodeRecord(read)).toThrow(DamagedRecordError);
      expect(storedIdOf(read)).toBe(FIRST_ID);
    }
  });

  it.each([Buffer.alloc(0), Buffer.alloc(64), Buffer.alloc(5000, 7), undefined])(
    'that is damaged or lost packs nothing, and a new one gets another number',
    (damaged) => {
      const list = new PackedList(damaged === undefined ? new Map() : new Map([[1, damaged]]), 1);
      expectSame(list.write(RECORDS.slice(0, 200)), SHORT.slice(0, 200));
      const bytes = list.write(RECORDS);
      expect(list.kept.get(1)).toBe(damaged);
      expect(lengthOf(bytes)).toBeLessThan(lengthOf(SHORT) / 2);
      expectSame(
        bytes.map((each) => list.unpacked(each)),
        SHORT,
      );
      // What the first dictionary packed cannot be read with the new one.
      expect(() => decodeRecord(list.unpacked(packed().bytes[0] ?? Buffer.alloc(0)))).toThrow(DamagedRecordError);
    },
  );

  it('is not learned if the list has lost its count of dictionaries', () => {
    const list = new PackedList(new Map([[1, packed().words]]));
    list.count = undefined;
    expectSame(list.write(RECORDS), SHORT);
    expectSame([list.unpacked(packed().bytes[0] ?? Buffer.alloc(0))], SHORT.slice(0, 1));
  });

  it('of a failed commit is learned by the next commit, but only once', () => {
    const list = new PackedList();
    const failed = list.pack(RECORDS);
    const other = list.pack(RECORDS.toReversed());
    expect(other.learned).toEqual(failed.learned);
    const learned = other.learned ?? { number: 0, words: new Uint8Array() };
    // Two versions of a list are written one after the other.
    list.words.putLearned(learned);
    list.words.putLearned(learned);
    expect(list.unpacked(other.bytes[0] ?? Buffer.alloc(0))).toEqual(SHORT.at(-1));
    for (const wrong of [
      { number: 1, words: Buffer.alloc(3) },
      { ...learned, number: 3 },
    ])
      expect(() => {
        list.words.putLearned(wrong);
      }).toThrow('another commit');
  });

  it('is kept only if it makes the records and itself smaller together', () => {
    const random = (number: number, bytes: number) => {
      let [text, state] = ['', number + 1];
      for (let each = 0; each < bytes; each += 1)
        text += ((state = (state * 48_271) % 2_147_483_647) % 36).toString(36);
      return storedRecord(number, { a: text });
    };
    const records = Array.from({ length: 2000 }, (_, number) => random(number, 300));
    expectSame(new PackedList().write(records), records.map(encodeRecord));
    expect(new PackedList().pack(RECORDS.slice(0, 999)).learned).toBeUndefined();
  });
});

describe('words that differ from those of the list', () => {
  const records = (word: string, count = 2000) =>
    Array.from({ length: count }, (_, number) =>
      storedRecord(number, {
        text: Array.from({ length: 30 }, (_each, at) => `${word}${(number * 7 + at * at) % 500}`).join(' '),
      }),
    );
  const lengthBy = (list: PackedList, word: string) => lengthOf(list.write(records(word, 500)));

  it('get a second dictionary, and each commit is packed with the best one', () => {
    const list = new PackedList();
    const [ofFirst, ofSecond] = [records('first'), records('second')];
    const first = list.write(ofFirst);
    const own = lengthBy(list, 'first');
    // How badly a dictionary packs is known only after it was used.
    list.write(ofSecond);
    const second = list.write(ofSecond);
    expect([...list.kept.keys()]).toEqual([1, 2]);
    expect(lengthBy(list, 'second')).toBeLessThan(own * 1.2);
    expect(lengthBy(list, 'first')).toBe(own);
    const unpacked = [...first, ...second].map((each) => list.unpacked(each));
    expectSame(unpacked, [...ofFirst, ...ofSecond].map(encodeRecord));
    // Another thread, or a later one, uses the same dictionaries.
    const other = new PackedList(list.kept);
    expect([lengthBy(other, 'first'), lengthBy(other, 'second')]).toEqual([own, lengthBy(list, 'second')]);
    expect([...list.kept.keys()]).toEqual([1, 2]);
  });

  it('do not get a new dictionary each time that the store is opened', () => {
    let list = new PackedList();
    for (let round = 0; round < 20; round += 1) {
      list.write(records(`word${round}of`));
      list = new PackedList(list.kept);
    }
    expect(list.kept.size).toBeLessThanOrEqual(2);
    // Everything written since one opening counts.
    for (let round = 20; round < 40; round += 1) list.write(records(`word${round}of`));
    expect(list.kept.size).toBeGreaterThan(2);
  });

  it('are tried less and less often if that is not worth it, and get no more dictionaries than a list may have', () => {
    const list = new PackedList();
    for (let round = 0; round < 40; round += 1) list.write(records(`word${round}of`));
    expect(list.kept.size).toBeGreaterThan(2);
    expect(list.kept.size).toBeLessThanOrEqual(8);
  });
});

it('Records that are longer than the packing buffer are stored unpacked', () => {
  const list = listOf(packed().words);
  const long = storedRecord(1, { text: 'the words of the list '.repeat(4000) });
  const { bytes } = list.pack([...RECORDS.slice(0, 100), long]);
  expectSame(bytes.slice(-1), [encodeRecord(long)]);
  expect(isPacked(bytes[0] ?? Buffer.alloc(0))).toBe(true);
});
