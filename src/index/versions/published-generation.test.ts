import { expect, it, vi } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { PublishedGeneration } from './published-generation.js';

it('PublishedGeneration releases a generation that lacks an expected part', () => {
  const published = vi.spyOn(kernel, 'publishGeneration');
  const options = { kernel, version: 1, segments: [], vectors: undefined, pictures: undefined, onRelease: () => {} };
  try {
    expect(() => new PublishedGeneration({ ...options, pages: [] }, { records: { settings: '{}' } })).toThrow(
      'has no part pages',
    );
    const handle = published.mock.results[0]?.value as number;
    expect(() => kernel.generationInfo(handle)).toThrow();
  } finally {
    published.mockRestore();
  }
});
