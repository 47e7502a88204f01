import { expect, it } from 'vitest';
import { markSpellings } from './optional-marks.js';

it('markSpellings writes a nasal consonant of Devanagari as a sign, and the sign as the consonant', () => {
  expect(markSpellings('हिन्दी')).toEqual(['हिंदी']);
  expect(markSpellings('हिंदी')).toEqual(['हिँदी', 'हिन्दी']);
  expect(markSpellings('चम्पा')).toContain('चंपा');
  expect(markSpellings('अंगूर')).toContain('अङ्गू'.concat('र'));
  expect(markSpellings('पाँच')).toContain('पांच');
  // A doubled consonant is not written as a sign.
  expect(markSpellings('अन्न')).toEqual([]);
});

it('markSpellings adds and removes the dot of a foreign sound in Devanagari', () => {
  expect(markSpellings('ज़रूरत'.normalize('NFD'))).toEqual(['जरूरत']);
  expect(markSpellings('जरूरत')).toEqual(['ज़रूरत'.normalize('NFD')]);
});

it('markSpellings adds and removes the marks of Hebrew abbreviations and sounds', () => {
  expect(markSpellings('צה"ל')).toContain('צהל');
  expect(markSpellings('צהל')).toContain('צה"ל');
  expect(markSpellings("ג'ירפה")).toContain('גירפה');
  expect(markSpellings('גירפה')).toContain("ג'ירפה");
});

it('markSpellings adds and removes Hebrew marks in words of two letters', () => {
  expect(markSpellings('ד"ר')).toEqual(['דר']);
  expect(markSpellings('דר')).toEqual(['ד"ר']);
  expect(markSpellings("צ'ק")).toContain('צק');
  expect(markSpellings('צק')).toContain("צ'ק");
  expect(markSpellings('ח"ג')).toEqual(['חג']);
  expect(markSpellings('חג')).toEqual(['ח"ג']);
});

it('markSpellings adds and removes the long vowel at the end of a katakana word, and writes v as b', () => {
  expect(markSpellings('サーバー')).toContain('サーバ');
  expect(markSpellings('サーバ')).toContain('サーバー');
  expect(markSpellings('ヴァイオリン')).toContain('バイオリン');
  expect(markSpellings('バイオリン')).toContain('ヴァイオリン');
  // Words of two letters, and other scripts, have no other spellings.
  expect(markSpellings('ビー')).toEqual([]);
  expect(markSpellings('東京タワー')).toEqual([]);
});

it('markSpellings leaves other scripts alone, and returns a bounded number of spellings', () => {
  expect(markSpellings("l'eau")).toEqual([]);
  expect(markSpellings('क'.repeat(40)).length).toBeLessThanOrEqual(32);
  // Even then, the spelling without any marks is included.
  expect(markSpellings('क़'.normalize('NFD').repeat(40))).toContain('क'.repeat(40));
});
