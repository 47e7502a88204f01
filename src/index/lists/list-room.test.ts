import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProcessRoom, type ResourceUse } from '../../platform/index.js';
import { segmentFile, segmentsPath } from '../../store/index.js';
import { ListRoom, listsThatFit } from './list-room.js';

const MAX = 1000;
const roomWith = (used: number): ListRoom =>
  new ListRoom(new ProcessRoom((): ResourceUse[] => [{ resource: 'descriptors', used, max: MAX }]));

describe('ListRoom', () => {
  it('reserves more for everything else when a list is new than when it existed before', () => {
    const listPath = mkdtempSync(join(tmpdir(), 'gannet-room-'));
    const room = roomWith(MAX - 60);
    expect(() => {
      room.takeNew();
    }).toThrow(expect.objectContaining({ code: 'limit-reached', detail: expect.stringContaining('ulimit -n') }));
    expect(() => {
      room.takeExisting(listPath);
    }).not.toThrow();
    rmSync(listPath, { recursive: true });
  });

  it('counts the segments of a list', () => {
    const listPath = mkdtempSync(join(tmpdir(), 'gannet-room-'));
    mkdirSync(segmentsPath(listPath));
    for (let segment = 0; segment < 40; ++segment) writeFileSync(segmentFile(listPath, segment), '');
    expect(() => {
      roomWith(MAX - 60).takeExisting(listPath);
    }).toThrow(expect.objectContaining({ code: 'resources-exhausted' }));
    rmSync(listPath, { recursive: true });
  });

  it('refuses writes when little is left', () => {
    expect(() => {
      roomWith(MAX - 25).assertForWriting();
    }).not.toThrow();
    expect(() => {
      roomWith(MAX - 10).assertForWriting();
    }).toThrow(expect.objectContaining({ code: 'resources-exhausted', retryAfterSeconds: 5 }));
  });

  it('tells how many lists fit, by the limit that is reached first', () => {
    const descriptors = { resource: 'descriptors', used: 50, max: 1024 } as const;
    const addressBytes = { resource: 'addressBytes', used: 2 ** 30, max: 2 ** 47 } as const;
    const many = listsThatFit([descriptors, addressBytes]);
    expect(many).toBeGreaterThan(100);
    expect(many).toBeLessThan(1024);
    expect(listsThatFit([descriptors, { ...addressBytes, max: 2 ** 34 }])).toBeLessThan(many);
    expect(listsThatFit([{ ...descriptors, max: 64 }])).toBe(0);
  });
});
