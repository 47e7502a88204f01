import { describe, expect, it } from 'vitest';
import { childOf, childrenOf, readXmlTree, textOf } from './xml-tree.js';

const FEED =
  '<rss><channel><item><guid>1</guid></item><item><guid>2</guid><title>Two</title></item><item><guid>3</guid></item></channel></rss>';
const ELEMENTS = FEED.match(/<[a-z]/g)?.length ?? 0;

describe('readXmlTree', () => {
  it('reports a document with too many elements as incomplete, and which of its elements lack something', async () => {
    expect(await readXmlTree(FEED, { nodesMax: ELEMENTS })).toMatchObject({ isWhole: true, cutOff: new Set() });
    for (let nodesMax = 1; nodesMax < ELEMENTS; nodesMax += 1) {
      const { root, isWhole, cutOff } = await readXmlTree(FEED, { nodesMax });
      expect(isWhole, String(nodesMax)).toBe(false);
      const items = childrenOf(childOf(root, 'channel'), 'item').filter((item) => !cutOff.has(item));
      // The elements that remain are as they are in the document.
      const read = items.map((item) => textOf(childOf(item, 'guid')) + textOf(childOf(item, 'title')));
      expect(['1', '2Two', '3'].slice(0, read.length)).toEqual(read);
    }
  });
});
