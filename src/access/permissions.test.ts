import { describe, expect, it } from 'vitest';
import { PermissionCatalogue, PermissionSet } from './permissions.js';

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

describe('PermissionCatalogue', () => {
  const catalogue = new PermissionCatalogue(['list:read', null, 'public', 'facet:create', 'echo:say', 'list:read']);

  it('has what operations need and what is promised, once each and in a fixed order', () => {
    expect(new Set(catalogue.all).size).toBe(catalogue.all.length);
    expect(catalogue.all).toEqual(expect.arrayContaining(['list:read', 'facet:create', 'echo:say', 'feed:sync']));
    expect(catalogue.all).not.toContain('public');
    const fields = catalogue.all.indexOf('facet:read');
    expect(catalogue.all.slice(fields, fields + 2)).toEqual(['facet:read', 'facet:create']);
    expect(catalogue.all.at(-1)).toBe('echo:say');
  });

  it('offers as needed only what operations need', () => {
    expect(catalogue.needed).toEqual(['list:read', 'facet:create', 'echo:say']);
  });

  it('knows permissions, their areas and *, and nothing else', () => {
    for (const known of [...catalogue.all, 'facet:*', 'echo:*', '*']) expect(catalogue.has(known), known).toBe(true);
    for (const unknown of ['facet', 'facets:read', 'public', '', ':', 'webhook:test'])
      expect(catalogue.has(unknown), unknown).toBe(false);
  });

  it('suggests the permission that was probably meant', () => {
    expect(catalogue.unknownText('lists:read')).toContain('"list:read"');
    expect(catalogue.unknownText('xyz')).toBe('There is no permission "xyz".');
  });

  it('has presets of known permissions, and read-all permits no changes', () => {
    const { presets } = new PermissionCatalogue(['list:read', 'list-group:read', 'search-result:read', 'list:update']);
    expect(presets['search-and-read']).toEqual(['list:read', 'list-group:read', 'search-result:read']);
    expect(presets.full).toEqual([]);
    expect(presets['read-all']).toEqual(expect.arrayContaining(['service:view', 'list:read']));
    expect(presets['read-all'].every((name) => /:(read|view)$/.test(name))).toBe(true);
  });
});
