import { describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { SeededRandom } from '../../../test/support/random.js';
import { hasDotlessI, inLowerCase, isInCapitals, ofSearches } from './spelling.js';

describe('ofSearches', () => {
  it.each([
    ['L\u2019\u00c9COLE', 'en', "l'\u00e9cole"],
    ['rock\u2018n\u201broll', 'en', "rock'n'roll"],
    // Quotes and emphasis around a word, of any number, and none within it.
    ["''don't''", 'en', "don't"],
    ['\u2018\u00e9cole\u2019', 'fr', '\u00e9cole'],
    ['__first_name__', 'en', 'first_name'],
    ["_'both'_", 'en', 'both'],
    ['Schiff\u00adfahrt', 'de', 'schifffahrt'],
    ['\u200eabc\u202e\ufeff', 'en', 'abc'],
    ['\ufb01nance', 'en', 'finance'],
    ['\uff27\uff41', 'en', 'ga'],
    ['E\u0301te\u0301', 'fr', '\u00e9t\u00e9'],
    ['ISPARTA', 'tr', '\u0131sparta'],
    ['ISPARTA', 'az', '\u0131sparta'],
    ['ISPARTA', 'en', 'isparta'],
    ['\u0130stanbul', 'en', 'istanbul'],
    ['\u0130stanbul', 'tr', 'istanbul'],
    ['I\u0307stanbul', 'en', 'istanbul'],
  ])('writes %j in %s as %j', (word, language, expected) => {
    expect(ofSearches(word, language)).toBe(expected);
  });
});

it('isInCapitals is true for two or more letters, all of them capitals', () => {
  expect(['AB', 'A1B', '\u00c9C', 'A', 'Ab', 'aB', 'AbC', '12'].filter(isInCapitals)).toEqual(['AB', 'A1B', '\u00c9C']);
});

it('hasDotlessI and inLowerCase know Turkish and Azerbaijani', () => {
  expect(['tr', 'az', 'en', 'none'].filter(hasDotlessI)).toEqual(['tr', 'az']);
  expect([inLowerCase('I\u0130', 'tr'), inLowerCase('I\u0130', 'en')]).toEqual(['\u0131i', 'ii']);
});

it('A search for what ofSearches returns of a word finds the word, whatever letters and marks it consists of', () => {
  const pieces = [
    ...['abKlIoıİşéÉÅßẞ\'_.:#+@-12"', '\u2018\u2019\u201b\u00ad\u200b\u200d\u200e\u2060\ufeff\u0301\u0327\u0345\u00b7'],
    ...['\ufb01\ufb05\uff21\uff0e\uff07\uff3f\u2126', 'жёא״اάᾳΣςŉǆǰ½აꭰᲐ'],
  ].flatMap((letters) => [...letters]);
  const random = new SeededRandom(5);
  let compared = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const text = segmentForKernel(Array.from({ length: 1 + random.below(6) }, () => random.pick(pieces)).join(''));
    for (const { term, begin, end } of kernel.analyse(text)) {
      for (const language of ['en', 'tr']) {
        const found = kernel.analyse(segmentForKernel(ofSearches(text.slice(begin, end), language)));
        compared += 1;
        expect([found.map((word) => word.term), text]).toEqual([[term], text]);
      }
    }
  }
  expect(compared).toBeGreaterThan(20_000);
});
