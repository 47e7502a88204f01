/**
 * Finds samples of a fragmented MP4 file, as used for streams: its header describes tracks without samples, and the
 * samples are in the fragments after it. Pure functions.
 *
 * Source: ISO/IEC 14496-12, 8.8 (`trex`, `moof`, `traf`, `tfhd`, `tfdt`, `trun`).
 */
import type { ByteView } from './byte-view.js';
import { boxesOf, childOf, FULL_BOX_BYTES, isVersion1, type Box, type Sample } from './mp4-boxes.js';

/** Values for samples that do not state them. */
interface Defaults {
  readonly duration: number;
  readonly bytes: number;
}

interface TrackFragment extends Defaults {
  readonly track: number;
  /** Base of the samples' offsets. */
  readonly base: number;
}

/** Limit for all wanted tracks together. */
const SAMPLES_MAX = 1_000_000;
// Flags of `tfhd`: members that follow, in this order.
const BASE = 0x1;
const DESCRIPTION = 0x2;
const DURATION = 0x8;
const BYTES = 0x10;
// Flags of `trun`: members before its samples, and members of each sample.
const OFFSET = 0x1;
const FIRST_FLAGS = 0x4;
const SAMPLE_DURATION = 0x100;
const SAMPLE_BYTES = 0x200;
const SAMPLE_FLAGS = 0x400;
const SAMPLE_COMPOSITION = 0x800;
const SIGN = 2 ** 31;

/** Returns the samples by track id, in file order. The base of a fragment that states none is its own beginning. */
export function fragmentSamples(
  file: ByteView,
  movie: Box,
  tracks: readonly number[],
): ReadonlyMap<number, readonly Sample[]> {
  const samples = new Map(tracks.map((track): [number, Sample[]] => [track, []]));
  if (samples.size === 0) return samples;
  const defaults = defaultsOf(file, movie);
  const times = new Map<number, number>();
  let left = SAMPLES_MAX;
  for (const fragment of boxesOf(file, { begin: 0, end: file.length })) {
    if (fragment.type !== 'moof') continue;
    for (const part of boxesOf(file, fragment)) {
      const head = part.type === 'traf' ? headOf(file, part, { base: fragment.start, defaults }) : undefined;
      const found = head && samples.get(head.track);
      if (head === undefined || found === undefined) continue;
      const timeBefore = startOf(file, part) ?? times.get(head.track) ?? 0;
      const { own, time } = samplesOf(file, part, { head, timeBefore, left });
      for (const sample of own) found.push(sample);
      times.set(head.track, time);
      left -= own.length;
    }
  }
  return samples;
}

/** Reads `trex`, by track: u32 track | u32 description | u32 duration | u32 bytes. */
function defaultsOf(file: ByteView, movie: Box): ReadonlyMap<number, Defaults> {
  const defaults = new Map<number, Defaults>();
  const extension = childOf(file, movie, 'mvex');
  if (extension === undefined) return defaults;
  for (const { type, begin } of boxesOf(file, extension)) {
    if (type !== 'trex') continue;
    const [track = 0, , duration = 0, bytes = 0] = [0, 1, 2, 3].map((at) =>
      file.number(begin + FULL_BOX_BYTES + at * 4, 4),
    );
    defaults.set(track, { duration, bytes });
  }
  return defaults;
}

/** Reads `tfhd`: u32 track, then according to its flags: u64 base | u32 description | u32 duration | u32 bytes. */
function headOf(
  file: ByteView,
  part: Box,
  { base, defaults }: { readonly base: number; readonly defaults: ReadonlyMap<number, Defaults> },
): TrackFragment | undefined {
  const head = childOf(file, part, 'tfhd');
  if (head === undefined) return undefined;
  const flags = file.number(head.begin + 1, 3);
  const track = file.number(head.begin + FULL_BOX_BYTES, 4);
  let at = head.begin + FULL_BOX_BYTES + 4;
  const told = (flag: number, width: number) => {
    if ((flags & flag) === 0) return undefined;
    at += width;
    return file.number(at - width, width);
  };
  const ownBase = told(BASE, 8);
  told(DESCRIPTION, 4);
  const { duration = 0, bytes = 0 } = defaults.get(track) ?? {};
  return {
    track,
    base: ownBase ?? base,
    duration: told(DURATION, 4) ?? duration,
    bytes: told(BYTES, 4) ?? bytes,
  };
}

/** Reads `tfdt`: the time of the fragment's first sample. Undefined if it continues the previous fragment. */
function startOf(file: ByteView, part: Box): number | undefined {
  const start = childOf(file, part, 'tfdt');
  return start && file.number(start.begin + FULL_BOX_BYTES, isVersion1(file, start) ? 8 : 4);
}

interface Wanted {
  readonly head: TrackFragment;
  readonly timeBefore: number;
  readonly left: number;
}

/**
 * Reads all `trun`: u32 samples, members according to its flags (i32 offset | u32 flags of the first), then the members
 * of each sample.
 */
function samplesOf(file: ByteView, part: Box, { head, timeBefore, left }: Wanted) {
  const own: Sample[] = [];
  let [begin, time] = [head.base, timeBefore];
  for (const run of boxesOf(file, part)) {
    if (run.type !== 'trun') continue;
    const flags = file.number(run.begin + 1, 3);
    let at = run.begin + FULL_BOX_BYTES + 4;
    const told = (flag: number) => {
      if ((flags & flag) === 0 || at + 4 > run.end) return undefined;
      at += 4;
      return file.number(at - 4, 4);
    };
    const offset = told(OFFSET);
    if (offset !== undefined) begin = head.base + (offset < SIGN ? offset : offset - 2 * SIGN);
    told(FIRST_FLAGS);
    const count = file.number(run.begin + FULL_BOX_BYTES, 4);
    for (let index = 0; index < count; index++) {
      const duration = told(SAMPLE_DURATION) ?? head.duration;
      const bytes = told(SAMPLE_BYTES) ?? head.bytes;
      told(SAMPLE_FLAGS);
      told(SAMPLE_COMPOSITION);
      if (own.length >= left || begin < 0 || begin + bytes > file.length) return { own, time };
      own.push({ begin, end: begin + bytes, time });
      begin += bytes;
      time += duration;
    }
  }
  return { own, time };
}
