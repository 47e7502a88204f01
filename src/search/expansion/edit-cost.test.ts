import { describe, expect, it } from 'vitest';
import { editSurcharge } from './edit-cost.js';
import { editsAllowed } from './typo-choice.js';

describe('editSurcharge', () => {
  it.each([
    ['recieve', 'receive', 0],
    ['goverment', 'government', 0],
    ['comming', 'coming', 0.5],
    ['definate', 'definite', 1],
    ['nife', 'knife', 0.5],
    ['ohter', 'other', 0],
    ['tge', 'the', 1],
    ['wge', 'the', 2.5],
    ['ti', 'it', 0.5],
    ['same', 'same', 0],
  ])('is lower for common slips: %s for %s', (typed, meant, surcharge) => {
    expect(editSurcharge(typed, meant)).toBeCloseTo(surcharge);
  });
});

describe('editsAllowed', () => {
  it.each<[string, number]>([
    ['cat', 0],
    ['cats', 1],
    ['kitten7', 0],
    ['kittens', 1],
    ['kittenss', 2],
    ['😀😀😀', 0],
    ['кошк', 1],
    ['١٢٣٤٥', 0],
  ])('allows by the length of the word: %s has %i', (word, edits) => {
    expect(editsAllowed(word)).toBe(edits);
  });
});
