import { describe, expect, it } from 'vitest';
import type { GenerationSettings } from '../../index/index.js';
import { readSearchRequest } from '../options/search-request.js';
import { planMeaning } from './meaning-plan.js';
import type { QueryNode } from './plan-nodes.js';

const settings = {
  meaning: { model: 'own', modelVersion: '1', source: 'own', dimensions: 2, calibration: undefined },
} as unknown as GenerationSettings;
const given = { modelVersion: '1', vector: Float32Array.of(0.6, 0.8) };

function planned(query: QueryNode, ofPictures?: true, vectorsPerRecord = 1) {
  const meaning = ofPictures === undefined ? given : { ...given, ofPictures };
  const searched = { ...settings, vectorsPerRecord: () => vectorsPerRecord };
  return planMeaning(readSearchRequest({}, []), query, searched, meaning);
}

describe('the number of nearest vectors that a plan asks for', () => {
  const words: QueryNode = { kind: 'groups', groups: [], sequence: [], whole: [] };

  it('is half as high beside words as alone', () => {
    expect(planned(words)).toMatchObject({ wanted: 50, weight: 0.5 });
    expect(planned({ kind: 'nothing' })).toMatchObject({ wanted: 100, weight: 1 });
  });

  it('is higher beside words if records have several vectors each, but never higher than alone', () => {
    const wanted = [0.1, 1, 1.01, 1.5, 2, 1000].map((each) => planned(words, undefined, each)?.wanted);
    expect(wanted).toEqual([50, 50, 51, 75, 100, 100]);
    expect(planned({ kind: 'nothing' }, undefined, 1000)?.wanted).toBe(100);
  });

  it('is 2000 for pictures, beside words and alone', () => {
    expect(planned(words, true)?.wanted).toBe(2000);
    expect(planned({ kind: 'nothing' }, true)?.wanted).toBe(2000);
  });
});
