import { describe, expect, it } from 'vitest';
import { ACCESS_PRESETS, isPermission, PERMISSIONS, PermissionSet, unknownPermissionText } from './permissions.js';

describe('PermissionSet', () => {
  it('allows everything when empty or with *', () => {
    expect(new PermissionSet([]).allows('list:delete')).toBe(true);
    expect(new PermissionSet(['*']).allows('list:delete')).toBe(true);
  });

  it('allows the named permission and no other', () => {
    const set = new PermissionSet(['list:read']);
    expect(set.allows('list:read')).toBe(true);
    expect(set.allows('list:update')).toBe(false);
    expect(set.allows('list-group:read')).toBe(false);
  });

  it('allows every action of an area with <area>:*', () => {
    const set = new PermissionSet(['list:*']);
    expect(set.allows('list:delete')).toBe(true);
    expect(set.allows('list-group:delete')).toBe(false);
    expect(set.allows('search-result:read')).toBe(false);
  });
});

describe('the catalogue of permissions', () => {
  it('holds no name twice and knows what it holds', () => {
    expect(new Set(PERMISSIONS).size).toBe(PERMISSIONS.length);
    expect(PERMISSIONS.every(isPermission)).toBe(true);
    expect(isPermission('facet:*')).toBe(true);
    expect(isPermission('*')).toBe(true);
    expect(isPermission('facet')).toBe(false);
    expect(isPermission('facets:read')).toBe(false);
  });

  it('names what was probably meant', () => {
    expect(unknownPermissionText('search-results:read')).toContain('"search-result:read"');
    expect(unknownPermissionText('xyz')).toBe('There is no permission "xyz".');
  });

  it('has presets of known permissions; read-all changes nothing', () => {
    expect(ACCESS_PRESETS['search-and-read']).toEqual(['list:read', 'list-group:read', 'search-result:read']);
    expect(ACCESS_PRESETS.full).toEqual([]);
    expect(ACCESS_PRESETS['read-all']).toContain('service:view');
    expect(ACCESS_PRESETS['read-all'].every((name) => /:(read|view)$/.test(name))).toBe(true);
    expect(Object.values(ACCESS_PRESETS).flat().every(isPermission)).toBe(true);
  });
});
