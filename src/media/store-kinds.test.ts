import { expect, it } from 'vitest';
import { changedStore, newStore, storeResource } from './media-schemas.js';
import { sealedOf, shownSettings, STORE_KINDS, STORE_MEMBERS, storeKind, type StoreKind } from './store-kinds.js';

const KINDS = Object.keys(STORE_KINDS) as StoreKind[];

it('Every member of a kind of store is in the schemas, and shown unless it is hidden', () => {
  for (const kind of KINDS) {
    const { needed, others } = storeKind(kind);
    for (const member of [...needed, ...others]) {
      expect(Object.keys(newStore.properties), kind).toContain(member);
      expect(Object.keys(changedStore.properties), kind).toContain(member);
      const isShown = !('isHidden' in STORE_MEMBERS[member]);
      expect(Object.hasOwn(storeResource.properties, member), `${kind}: ${member}`).toBe(isShown);
    }
  }
});

it('The secret of a store is returned for sealing, but neither shown nor the members that belong to it', () => {
  const bucket = { kind: 's3', endpoint: 'https://a.example', region: 'r', bucket: 'b', prefix: '' } as const;
  const settings = { ...bucket, access_key_id: 'id', secret_access_key: 'sealed' };
  expect(sealedOf(settings)).toBe('sealed');
  expect(shownSettings(settings)).toEqual({ endpoint: 'https://a.example', region: 'r', bucket: 'b', prefix: '' });
  expect(sealedOf({ kind: 'folder', folder: '/x' })).toBeUndefined();
});
