import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clickEventRoom,
  EVENT_KINDS,
  EventReader,
  searchEventRoom,
  writeClickEvent,
  writeSearchEvent,
  type ClickEvent,
  type SearchEvent,
} from './event-codec.js';
import { resultHash } from './hash.js';

const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength });
const uuid = fc.uuid({ version: 7 });
const shownResult = fc.record(
  { name: text(20), listName: text(8), placeBefore: fc.nat(100_000) },
  { requiredKeys: ['name', 'placeBefore'] },
);
const searchEvent: fc.Arbitrary<SearchEvent> = fc.record(
  { queryId: uuid, term: text(100), hasResults: fc.boolean(), shown: fc.array(shownResult, { maxLength: 30 }) },
  { requiredKeys: ['queryId', 'term', 'hasResults'] },
);
const clickEvent: fc.Arbitrary<ClickEvent> = fc.record(
  {
    timeMs: fc.nat({ max: 2 ** 48 - 1 }),
    queryId: fc.oneof(uuid, text(60)),
    resultName: text(512),
    listName: text(64),
  },
  { requiredKeys: ['timeMs', 'queryId', 'resultName'] },
);
const events = fc.array(fc.oneof(searchEvent, clickEvent), { maxLength: 20 });
const isClick = (event: SearchEvent | ClickEvent): event is ClickEvent => 'resultName' in event;

function write(list: readonly (SearchEvent | ClickEvent)[]): Uint8Array {
  const room = list.reduce((sum, event) => sum + (isClick(event) ? clickEventRoom(event) : searchEventRoom(event)), 0);
  const buffer = Buffer.alloc(room);
  const end = list.reduce(
    (at, event) => (isClick(event) ? writeClickEvent(buffer, at, event) : writeSearchEvent(buffer, at, event)),
    0,
  );
  return buffer.subarray(0, end);
}

/** Returns what a text becomes as UTF-8: unpaired surrogates are replaced. */
const asUtf8 = (value: string) => Buffer.from(value).toString();

function read(bytes: Uint8Array): unknown[] {
  const reader = new EventReader().reset(bytes);
  const found: unknown[] = [];
  const slice = (begin: number, end: number) => Buffer.from(bytes.subarray(begin, end)).toString();
  while (reader.next()) {
    const own = slice(reader.textBegin, reader.textEnd);
    const id = reader.idBegin < 0 ? undefined : Buffer.from(bytes.subarray(reader.idBegin, reader.idBegin + 16));
    if (reader.kind === EVENT_KINDS.click) {
      const listName = slice(reader.listNameBegin, reader.listNameEnd);
      found.push({ timeMs: reader.timeMs, id: id?.toString('hex'), resultName: own, listName });
      continue;
    }
    const shown: unknown[] = [];
    reader.readShown((hash, placeBefore, placeAfter) => shown.push([hash, placeBefore, placeAfter]));
    found.push({
      id: id?.toString('hex'),
      timeMs: reader.timeMs,
      term: own,
      hasResults: reader.hasResults,
      shown: reader.isReordered ? shown : undefined,
    });
  }
  expect(reader.isDamaged).toBe(false);
  return found;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

describe('encoded events', () => {
  it('decode to what was written', () => {
    fc.assert(
      fc.property(events, (list) => {
        const expected = list.map((event) => {
          const id = UUID.test(event.queryId) ? event.queryId.replaceAll('-', '').toLowerCase() : undefined;
          if (isClick(event)) {
            const { timeMs, resultName, listName = '' } = event;
            return { timeMs, id, resultName: asUtf8(resultName), listName: asUtf8(listName) };
          }
          return {
            id,
            timeMs: Number.parseInt(event.queryId.slice(0, 8) + event.queryId.slice(9, 13), 16),
            term: asUtf8(event.term),
            hasResults: event.hasResults,
            shown: event.shown?.map(({ name, listName = '', placeBefore }, place) => [
              resultHash(Buffer.from(listName), Buffer.from(name)),
              placeBefore,
              place,
            ]),
          };
        });
        expect(read(write(list))).toEqual(expected);
      }),
    );
  });

  it('are read as far as they are complete, whatever the bytes are', () => {
    const drain = (bytes: Uint8Array) => {
      const reader = new EventReader().reset(bytes);
      for (let count = 0; reader.next(); ++count) {
        if (count > bytes.length) throw new Error('it does not end');
        if (reader.textEnd > bytes.length || reader.listNameEnd > bytes.length) throw new Error('beyond the end');
        reader.readShown(() => undefined);
      }
      const skipping = new EventReader().reset(bytes);
      for (let count = 0; skipping.nextKind !== undefined; ++count) {
        if (count > bytes.length) throw new Error('it does not end');
        skipping.skip();
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), drain));
    const damaged = fc.tuple(events, fc.nat(), fc.nat(255), fc.nat()).map(([list, at, byte, cut]) => {
      const bytes = Uint8Array.from(write(list));
      if (bytes.length > 0) bytes[at % bytes.length] = byte;
      return bytes.subarray(0, bytes.length - (cut % (bytes.length + 1)));
    });
    fc.assert(fc.property(damaged, drain));
  });
});
