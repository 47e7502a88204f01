import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDefinitions } from './abbreviations.js';
import { processorMs } from '../../test/support/processor-time.js';

const pairs = (text: string) => findDefinitions(text).map(({ abbreviation, longForm }) => [abbreviation, longForm]);

describe('findDefinitions', () => {
  // Sentences of abstracts, some modelled on the paper's own examples.
  it.each<[string, readonly (readonly [string, string])[]]>([
    ['the emergency room (ER) was full', [['ER', 'emergency room']]],
    ['genes of heat shock transcription factor (HSF) were cloned', [['HSF', 'heat shock transcription factor']]],
    ['HSF (heat shock transcription factor) binds', [['HSF', 'heat shock transcription factor']]],
    ['Gcn5-related N-acetyltransferase (GNAT) superfamily', [['GNAT', 'Gcn5-related N-acetyltransferase']]],
    [
      'hidden Markov models (HMMs) and the hidden Markov model (HMM)',
      [
        ['HMMs', 'hidden Markov models'],
        ['HMM', 'hidden Markov model'],
      ],
    ],
    ['We use principal component analysis [PCA].', [['PCA', 'principal component analysis']]],
    ['Was it late? Convolutional neural networks (CNNs; see below) won.', [['CNNs', 'Convolutional neural networks']]],
    ['the World Health Organization (WHO, Geneva)', [['WHO', 'World Health Organization']]],
    ['la Organización Mundial de la Salud (OMS)', [['OMS', 'Organización Mundial de la Salud']]],
    ['Европейский союз (ЕС)', [['ЕС', 'Европейский союз']]],
    ['messenger RNA (mRNA)', [['mRNA', 'messenger RNA']]],
  ])('reads %s', (text, expected) => {
    expect(pairs(text)).toEqual(expected);
  });

  it.each([
    'the machine (see Figure 3) was loud',
    'he won (in 1999) the cup',
    'a list (a) of things (b)',
    'an unmatched (parenthesis',
    'nothing that spells XYZ (ABC)',
    '(ABC)',
    'ABC ABC (ABC)',
    'It rained (IBM)',
  ])('finds nothing in %s', (text) => {
    expect(pairs(text)).toEqual([]);
  });

  it('reads any text, in a time that grows with its length', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('(', ')', '[', 'A', 'b', ' ', '.', 'É', '𝒜', 'İ'), maxLength: 500 }),
        (text) => {
          for (const { abbreviation, longForm } of findDefinitions(text))
            expect(longForm.length).toBeGreaterThan(abbreviation.length);
        },
      ),
    );
    const taken = processorMs(() => {
      findDefinitions('(A '.repeat(200_000));
      findDefinitions('ab (AB) '.repeat(100_000));
    });
    expect(taken).toBeLessThan(5000);
  });
});
