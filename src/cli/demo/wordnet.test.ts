import { describe, expect, it } from 'vitest';
import { parseSenses, parseSynset, splitGloss, wordnetRecords } from './wordnet.js';

describe('parseSynset', () => {
  it('reads words, relations, definition and examples of a line', () => {
    const line =
      '00003553 03 n 02 whole 0 living_unit 0 003 @ 00002684 n 0000 + 01464634 v 0204 %p 03898588 n 0000 | ' +
      'an assemblage of parts; "how big is that part?"; "the team is a unit"  ';
    expect(parseSynset(line)).toEqual({
      key: 'n00003553',
      letter: 'n',
      domain: 'noun.Tops',
      words: ['whole', 'living unit'],
      pointers: [{ field: 'hypernym', target: 'n00002684' }],
      gloss: 'an assemblage of parts',
      examples: ['how big is that part?', 'the team is a unit'],
    });
  });

  it('keeps the letter of a satellite adjective, whose key is that of an adjective', () => {
    const synset = parseSynset('00014490 00 s 01 galore(ip) 0 001 & 00013887 a 0000 | existing in abundance');
    expect(synset).toMatchObject({ key: 'a00014490', letter: 's', words: ['galore'], gloss: 'existing in abundance' });
  });

  it('skips lines of the licence', () => {
    expect(parseSynset('  1 This software and database is being provided to you')).toBeUndefined();
  });
});

describe('a gloss', () => {
  it.each([
    ['draw air into the lungs; "I can breathe"; "The patient is respiring"', 'draw air into the lungs', 2],
    ['the word "and" joins; as in a list', 'the word "and" joins; as in a list', 0],
    ['"quoted whole"', '"quoted whole"', 0],
    ['without any example', 'without any example', 0],
  ])('is split: %s', (text, gloss, count) => {
    const split = splitGloss(text);
    expect(split.gloss).toBe(gloss);
    expect(split.examples).toHaveLength(count);
  });
});

it('parseSenses reads the most common sense first', async () => {
  const senses = await parseSenses(
    '  1 licence\ndog n 2 3 @ ~ #m 2 1 02086723 10133978  \nhot_dog n 1 1 @ 1 0 07692347  \n',
  );
  expect(senses.get('dog')).toEqual(['02086723', '10133978']);
  expect(senses.get('hot dog')).toEqual(['07692347']);
});

describe('wordnetRecords', async () => {
  const records = await wordnetRecords();
  const byName = new Map(records.map((record) => [record.name, record.fields]));

  it('returns about 117,000 synsets with unique names', () => {
    expect(records.length).toBeGreaterThan(117_000);
    expect(byName.size).toBe(records.length);
    expect(records.filter((record) => !/^\S+\.[nvasr]\.(?!00)\d\d+$/.test(record.name))).toEqual([]);
  });

  it('includes the dog', () => {
    expect(byName.get('dog.n.01')).toMatchObject({
      words: ['dog', 'domestic dog', 'Canis familiaris'],
      examples: ['the dog barked all night'],
      part_of_speech: 'noun',
      lexical_domain: 'noun.animal',
      sense: 1,
    });
    expect(byName.get('dog.n.01')?.['hypernym']).toContain('canine.n.02');
  });

  it('returns no record without a word, a gloss or a known domain', () => {
    const bad = records.filter(
      ({ fields }) =>
        (fields['words'] as string[]).some((word) => word === '') ||
        fields['gloss'] === '' ||
        fields['lexical_domain'] === 'unknown',
    );
    expect(bad).toEqual([]);
  });
});
