import { expect, it } from 'vitest';
import { markSpellings } from './optional-marks.js';

it('writes the nasal of a class as a sign, and the sign as the nasal', () => {
  expect(markSpellings('हिन्दी')).toEqual(['हिंदी']);
  expect(markSpellings('हिंदी')).toEqual(['हिँदी', 'हिन्दी']);
  expect(markSpellings('चम्पा')).toContain('चंपा');
  expect(markSpellings('अंगूर')).toContain('अङ्गू'.concat('र'));
  expect(markSpellings('पाँच')).toContain('पांच');
  // Two of a letter are no sign.
  expect(markSpellings('अन्न')).toEqual([]);
});

it('writes the dot of a foreign sound and leaves it out', () => {
  expect(markSpellings('ज़रूरत'.normalize('NFD'))).toEqual(['जरूरत']);
  expect(markSpellings('जरूरत')).toEqual(['ज़रूरत'.normalize('NFD')]);
});

it('writes the marks of Hebrew abbreviations and sounds and leaves them out', () => {
  expect(markSpellings('צה"ל')).toContain('צהל');
  expect(markSpellings('צהל')).toContain('צה"ל');
  expect(markSpellings("ג'ירפה")).toContain('גירפה');
  expect(markSpellings('גירפה')).toContain("ג'ירפה");
});

it('writes Hebrew marks between two letters, and before a last one that may have another, and leaves them out', () => {
  expect(markSpellings('ד"ר')).toEqual(['דר']);
  expect(markSpellings('דר')).toEqual(['ד"ר']);
  expect(markSpellings("צ'ק")).toContain('צק');
  expect(markSpellings('צק')).toContain("צ'ק");
  expect(markSpellings('ח"ג')).toEqual(['חג']);
  expect(markSpellings('חג')).toEqual(['ח"ג']);
});

it('writes the long sound at the end of a word of katakana, and v as b, and leaves it out', () => {
  expect(markSpellings('サーバー')).toContain('サーバ');
  expect(markSpellings('サーバ')).toContain('サーバー');
  expect(markSpellings('ヴァイオリン')).toContain('バイオリン');
  expect(markSpellings('バイオリン')).toContain('ヴァイオリン');
  // Of two letters, and of other scripts, none.
  expect(markSpellings('ビー')).toEqual([]);
  expect(markSpellings('東京タワー')).toEqual([]);
});

it('leaves other scripts alone, and is bounded', () => {
  expect(markSpellings("l'eau")).toEqual([]);
  expect(markSpellings('क'.repeat(40)).length).toBeLessThanOrEqual(32);
  // Even then, what has no marks at all is one of the ways.
  expect(markSpellings('क़'.normalize('NFD').repeat(40))).toContain('क'.repeat(40));
});
