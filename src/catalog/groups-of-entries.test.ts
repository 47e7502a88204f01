import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GroupsOfEntries } from './groups-of-entries.js';

interface Entry {
  readonly group: string;
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const entry = fc.record({ group: fc.constantFrom('x', 'y', 'z') });

it('GroupsOfEntries lists the entries of a group in the order of their keys through any changes', () => {
  const changes = fc.array(fc.tuple(key, fc.option(entry, { nil: undefined })));
  fc.assert(
    fc.property(fc.dictionary(key, entry), changes, fc.option(key, { nil: undefined }), (first, changed, after) => {
      const entries = new Map<string, Entry>(Object.entries(first));
      const groups = new GroupsOfEntries<Entry>({ groupOf: ({ group }) => group, entries });
      for (const [at, next] of changed) {
        groups.changes(at, entries.get(at), next);
        if (next === undefined) entries.delete(at);
        else entries.set(at, next);
      }
      for (const group of ['x', 'y', 'z']) {
        const own = [...entries].filter(([, value]) => value.group === group).sort(([a], [b]) => (a < b ? -1 : 1));
        expect(groups.countOf(group)).toBe(own.length);
        expect([...groups.of(group)]).toEqual(own.map(([, value]) => value));
        const behind = own.filter(([at]) => after === undefined || at > after);
        expect([...groups.of(group, after)]).toEqual(behind.map(([, value]) => value));
      }
    }),
  );
});
