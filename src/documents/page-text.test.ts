import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../test/support/random.js';
import { pageText } from './page-text.js';

describe('the text of a page', () => {
  it.each([
    ['joins a word that was cut at the end of a line', 'inter\uFFFEnational, on-\r\nline', 'international, online'],
    ['keeps a hyphen before what is no word going on', 'XR\uFFFE500 and E-\r\nMail', 'XR-500 and E-\nMail'],
    ['takes ligatures apart', 'e\uFB03cient \uFB01sh', 'efficient fish'],
    ['has letters for the shapes of Arabic', '\uFE8D\uFEE7\uFEEE\uFE8D\uFECB', 'انواع'],
    ['leaves marks of direction and private characters out', '\u202B\u05E9\u05DC\u05D5\u05DD\u202C\uE000', 'שלום'],
    ['knows the glyphs of TeX', 'signi\x1Ccant, \x10Workers\x11', 'significant, “Workers”'],
    ['divides words where nothing tells what is between them', 'one\x01two\x02three', 'one two three'],
    ['has no blanks between ideographs', '目 次 の 原 則 and more', '目次の原則 and more'],
    ['reads UTF-8 that was taken for UTF-16', '킜킰톁톁킰 킛킸톁톂', 'Масса Лист'],
    ['leaves Korean as it is', '안녕하세요 세계 반갑습니다', '안녕하세요 세계 반갑습니다'],
    ['has one line feed at an end of a line, and no blanks there', ' a \r\n\r\n\r\n\r\nb \r c', 'a\n\nb\nc'],
  ])('%s', (_what, raw, text) => {
    expect(pageText(raw)).toBe(text);
  });

  it('has no control characters, unpaired surrogates or blanks at its ends, whatever the raw text is', () => {
    const random = new SeededRandom(7);
    const alphabet = [
      'a',
      'B',
      '-',
      ' ',
      '\r',
      '\n',
      '\x01',
      '\x1C',
      '\uFFFE',
      '\u00AD',
      '목',
      '킰',
      'の',
      '\uFB01',
      '\uD83D',
      '\u202E',
      '\t',
    ];
    for (let round = 0; round < 2000; round += 1) {
      const raw = Array.from({ length: random.below(40) }, () => alphabet[random.below(alphabet.length)]).join('');
      const text = pageText(raw);
      expect(text).not.toMatch(/(?!\n)\p{Cc}|\p{Cs}|\p{Cn}|^\s|\s$| {2}/u);
    }
  });

  it('is made in a time proportional to its length', () => {
    const took = (length: number) => {
      const raw = 'a '.repeat(length) + '-\r\n'.repeat(length) + ' \uFFFE'.repeat(length);
      const began = process.cpuUsage();
      pageText(raw);
      return process.cpuUsage(began).user;
    };
    took(1000);
    expect(took(100_000)).toBeLessThan(3e6);
  });
});
